"""Texts of files that people exchange do not control the terminal: schedules, machine files, traces, algorithms."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from collectives.schedules import InvalidScheduleError, load
from fakempi.apps.cli import main
from fakempi.apps.cli.console import SafeConsole
from tests.cli.test_running import Capture
from tests.cli.test_schedules import BARRIER

EVIL = "\x1b[31mred\x1b[2J\x07\x9b"


def schedule(**changes: object) -> str:
    """A schedule without messages, with changes."""
    rank = {"steps": [], "buffers": {"input": 8, "output": 8}}
    head: dict[str, object] = {"format": "fakempi schedule", "version": 1, "ranks": 2, "operation": "barrier", "name": "x"}
    return json.dumps({**head, "steps": [[], []], "buffers": [rank["buffers"]] * 2, **changes})


def clean(capsys: Capture) -> str:
    """Return the output; it has no control characters but line ends."""
    out, err = capsys.readouterr()
    assert all(char.isprintable() or char == "\n" for char in out + err)
    return out + err


def test_names_in_schedules_do_not_control_the_terminal(tmp_path: Path, capsys: Capture) -> None:
    """In each format and by each action; also operations, buffers and values in messages."""
    evil = [
        ("a.json", schedule(name=EVIL)), ("b.json", schedule(operation=EVIL)), ("c.json", schedule(root=EVIL)),
        ("d.json", schedule(buffers=[{EVIL: 8}] * 2)), ("e.json", schedule(format=EVIL)), ("f.json", schedule(counts=EVIL)),
        ("g.goal", BARRIER.replace("l1", EVIL)), ("h.goal", BARRIER.replace("tag", EVIL)),
        ("i.xml", f'<algo name="{chr(155)}31m" coll="allreduce" ngpus="2" nchannels="1" nchunksperloop="2"></algo>'),
        ("j.json", "[" * 100_000), ("k.xml", "<a>" * 100_000), ("l.goal", "{" * 100_000),
    ]  # fmt: skip
    for name, text in evil:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        for action in ("verify", "show", "run", "export"):
            output = ["-o", str(tmp_path / "x.json")] if action == "export" else []
            assert main(["schedule", action, str(path), *output]) == 2
            assert clean(capsys)
        with pytest.raises(InvalidScheduleError) as raised:
            load(path)
        assert str(raised.value).isprintable()
    (tmp_path / "a.json").write_text(schedule())
    assert main(["schedule", "verify", str(tmp_path / "a.json")]) == 1
    assert "barrier x: 2 ranks, 0 steps" in clean(capsys)


def test_machine_files_do_not_control_the_terminal(tmp_path: Path, capsys: Capture) -> None:
    """Keys and values."""
    escaped = "\\u001b[31m"
    for text in (f'version = 1\n"{escaped}" = 1\n', f'version = "{escaped}"\n', f'version = 1\nduplex = "{escaped}"\n'):
        (tmp_path / "m.toml").write_text(text)
        assert main(["run", "-n", "1", "--cost", str(tmp_path / "m.toml"), "-c", "1"]) == 2
        assert "m.toml" in clean(capsys)


def test_the_console_escapes_control_characters_of_every_renderable() -> None:
    """Texts, tables and lines of progress; colors remain colors."""
    for terminal in (False, True):
        out = io.StringIO()
        console = SafeConsole(file=out, force_terminal=terminal, color_system="standard" if terminal else None, width=100)
        table = Table()
        table.add_column(EVIL)
        table.add_row(Text(EVIL, "bold"))
        for part in (EVIL, Text(EVIL, "red"), table):
            console.print(part, markup=False, highlight=False)
        text = out.getvalue()
        assert "\\x1b[31mred\\x1b[2J" in text
        assert "\x1b[2J" not in text
        assert "\x9b" not in text
        assert ("\x1b[" in text) == terminal
        with Progress(console=console) as progress:
            progress.add_task(EVIL.replace("[", "("), total=1)
        assert "\x07" not in out.getvalue()
