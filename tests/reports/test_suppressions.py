"""Findings that a comment, an entry in pyproject.toml or an option suppresses."""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi.core.reports.ignore_comments import comments_of
from fakempi.core.reports.suppression_rules import ENDS
from fakempi.core.reports.suppressions import Suppressions
from fakempi.view.run_end import failed

ENTRY = '[[tool.fakempi.ignore]]\nkind = "message-lost"\n'
POOL = """class Pool:
    def close(self, comm):
        def send():
            comm.send(1, 1)
        send()

def main(comm):
    if comm.rank == 0:
        Pool().close(comm)
"""


def module(tmp_path: Path, text: str, name: str = "pool.py") -> ModuleType:
    """A module with this text."""
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(f"made_{file.parent.name}_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def lost(comm: Any) -> None:
    """A message that no rank receives."""
    if comm.rank == 0:
        comm.send(
            "text # fakempi: ignore[file-leak]",
            1,
        )  # a message  # fakempi: ignore[file-leak, message-lost] rank 1 does not need it


def test_a_comment_on_any_line_of_the_statement_suppresses_its_kinds() -> None:
    """The finding is kept, with the reason. The same text in a string is no comment; file-leak is reported as unused."""
    result = fakempi.run(lost, 2)
    (finding,) = result.suppressed
    assert not result.findings
    line = lost.__code__.co_firstlineno + 6
    assert finding.suppressed == f"the comment at test_suppressions.py:{line}: rank 1 does not need it"
    assert str(finding).startswith(f"suppressed ({finding.suppressed}): message-lost: rank 0: send at ")
    assert f"the comment at test_suppressions.py:{line} (file-leak)" in result.unused_suppressions
    assert fakempi.run(lost, 2, strict=True).suppressed == [finding]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x = 1  # fakempi: ignore[epoch]", [(1, 1)]),
        ("x = (1,\n  2)  #fakempi:ignore[epoch]", [(1, 2)]),
        ("x = (1,  # fakempi: ignore[epoch]\n  2)", [(1, 2)]),
        ("x = 1 + \\\n  2  # fakempi: ignore[ epoch ] why", [(1, 2)]),
        ("if True:  # fakempi: ignore[epoch]\n  x = 1", [(1, 1)]),
        ("x = '# fakempi: ignore[epoch]'\ny = '''\n# fakempi: ignore[epoch]\n'''", []),
        ("x = 1  # see fakempi: ignore[epoch]", []),
        ("x = 1\n# fakempi: ignore[epoch]\ny = 1", [(1, 0)]),  # an empty range: it belongs to no statement
    ],
)
def test_comments_belong_to_statements(tmp_path: Path, text: str, lines: list[tuple[int, int]]) -> None:
    """As Python's tokenizer finds both."""
    (tmp_path / "a.py").write_text(text)
    found, problems = comments_of(str(tmp_path / "a.py"))
    assert ([rule.lines for rule in found], problems) == (lines, ())


def test_a_file_of_too_many_tokens_is_read_in_part(tmp_path: Path) -> None:
    """A megabyte of tokens of one character would take seconds; comments before them count, and a sentence says the rest."""
    (tmp_path / "a.py").write_text(
        f"one()  # fakempi: ignore[message-lost] a\n[{'0,' * 200_000}]  # fakempi: ignore[file-leak] b\n"
    )
    found, [problem] = comments_of(str(tmp_path / "a.py"))
    assert [one.kind for one in found] == ["message-lost"]
    assert problem.endswith("a.py:2: the file has too many tokens for its size; comments from here on are not read.")


def test_each_line_that_a_finding_names_may_have_the_comment(tmp_path: Path) -> None:
    """A mismatch of datatypes names the send and the receive."""
    text = """import numpy as np
def main(comm):
    if comm.rank:
        comm.Send(np.zeros(2, "f8"), 0){}
    else:
        comm.Recv(np.zeros(4, "i4"), 1){}
"""
    comment = "  # fakempi: ignore[datatype-mismatch]"
    for number, comments in enumerate((("", ""), (comment, ""), ("", comment))):
        result = fakempi.run(module(tmp_path, text.format(*comments), f"{number}.py").main, 2, strict=False)
        assert [len(result.findings), len(result.suppressed)] == ([0, 1] if number else [1, 0])
        if number:
            fakempi.run(module(tmp_path, text.format(*comments), f"{number}.py").main, 2, strict=True)


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """A comment suppresses nothing at the same line of another file."""
    text = "def main(comm):\n    comm.rank or comm.send(1, 1)"
    first = module(tmp_path, f"{text}  # fakempi: ignore[message-lost]", "a/x.py")
    second = module(tmp_path, text, "b/x.py")

    def both(comm: Any) -> None:
        first.main(comm)
        second.main(comm)

    result = fakempi.run(both, 2)
    assert [[one.place for one in kind] for kind in (result.findings, result.suppressed)] == [["x.py:2"], ["x.py:2"]]
    assert pickle.loads(pickle.dumps(result.findings)) == result.findings


@pytest.mark.parametrize(
    ("more", "suppressed"),
    [
        ("", True),
        ('file = "pool.py"', True),
        ('file = "sub/*.py"\nreason = "r"', True),
        ('function = "close"', True),
        ('function = "Pool.close"\nfile = "pool.py"', True),
        ('function = "send"', True),
        ('function = "Pool.close.send"', True),
        ('file = "ool.py"', False),
        ('file = "other/pool.py"', False),
        ('function = "lose"', False),
        ('function = "main"', False),  # the finding does not name its line
    ],
)
def test_an_entry_of_pyproject_names_kind_file_and_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, suppressed: bool
) -> None:
    """The nearest pyproject.toml with a table [tool.fakempi] counts, from the working directory upward."""
    (tmp_path / "pyproject.toml").write_text(ENTRY + more)
    made = module(tmp_path, POOL, "sub/pool.py")
    (tmp_path / "sub" / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100")
    monkeypatch.chdir(tmp_path / "sub")
    result = fakempi.run(made.main, 2)
    assert [len(result.findings), len(result.suppressed)] == ([0, 1] if suppressed else [1, 0])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('kind = "mesage-lost"', r"entry 1: the kind 'mesage-lost' is unknown; did you mean message-lost\?"),
        ('kind = "deadlock"', "deadlock is not a kind of finding: it ends the run, so it cannot be suppressed"),
        ('kinds = "epoch"', r"kinds is unknown; did you mean kind\?"),
        ('file = "a.py"', "name the kind"),
        ('kind = "epoch"\nfile = 1', "file must be a text, not 1"),
    ],
)
def test_invalid_entries_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, sentence: str) -> None:
    """At once in commands, otherwise at the end of a run with a finding."""
    (tmp_path / "pyproject.toml").write_text("[[tool.fakempi.ignore]]\n" + text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=sentence):
        Suppressions().load()
    with pytest.raises(ValueError, match=sentence):
        fakempi.run(module(tmp_path, POOL).main, 2)


@pytest.mark.parametrize("kind", [*ENDS, "DeadlockError"])
def test_what_ends_a_run_cannot_be_suppressed(tmp_path: Path, kind: str) -> None:
    """Not by an option, and not by a comment."""
    sentence = f"{kind} is not a kind of finding: it ends the run, so it cannot be suppressed"
    with pytest.raises(ValueError, match=sentence):
        fakempi.run(lost, 2, ignore=kind)
    with pytest.raises(ValueError, match=f"x.py:2: .*{sentence}"):
        fakempi.run(module(tmp_path, f"def main(comm):\n    comm.size  # fakempi: ignore[{kind}]", "x.py").main, 2)


def test_a_comment_without_a_known_kind_is_an_error(tmp_path: Path) -> None:
    """Also in a strict run that fails because of it."""
    comment = POOL.replace("comm.send(1, 1)", "comm.send(1, 1)  # fakempi: ignore{}")
    for strict in (False, True):
        with pytest.raises(ValueError, match=r"a.py:4: .*did you mean message-lost\?"):
            fakempi.run(module(tmp_path, comment.format("[messages-lost]"), "a.py").main, 2, strict=strict)
        with pytest.raises(ValueError, match=r"b.py:4: .*name the kind, such as ignore\[message-lost\]"):
            fakempi.run(module(tmp_path, comment.format(""), "b.py").main, 2, strict=strict)


def test_unused_suppressions_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But not for kinds that only strict runs check, or for files that are not loaded."""
    entries = [f'{ENTRY}file = "{file}"\n' for file in ("pool.py", "never_loaded.py")]
    (tmp_path / "pyproject.toml").write_text("".join(entries))
    monkeypatch.chdir(tmp_path)
    text = "def main(comm):\n    comm.Dup()  # fakempi: ignore[communicator-leak]\n    comm.size  # fakempi: ignore[epoch]\n"
    made = module(tmp_path, text)
    plain = fakempi.run(made.main, 2, ignore=["epoch"])
    strict = fakempi.run(made.main, 2, strict=True)
    entry = "pyproject.toml: kind message-lost, file pool.py"
    assert plain.unused_suppressions == ["the comment at pool.py:3 (epoch)", entry, "ignore epoch"]
    assert strict.unused_suppressions == ["the comment at pool.py:3 (epoch)", entry]
    assert [one.kind for one in strict.suppressed] == ["communicator-leak"]


def write_too_early(comm: Any) -> float:
    """Change a buffer that is being sent."""
    data = np.zeros(4)
    if comm.rank == 0:
        request = comm.Isend(data, 1)  # fakempi: ignore[buffer-in-use]
        data[0] = 1
        request.Wait()
    else:
        comm.Recv(data, 0)
    return float(data[0])


def test_a_strict_run_goes_on_after_a_suppressed_finding() -> None:
    """The array is writable if the line of the call has the comment."""
    result = fakempi.run(write_too_early, 2, strict=True)
    assert (result.returns[0], [one.kind for one in result.suppressed]) == (1, ["buffer-in-use"])


def test_an_unfinished_collective_call_may_be_suppressed() -> None:
    """The tasks of the call that are left are no deadlock then."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Ibarrier()

    with pytest.raises(fakempi.FindingsError):
        fakempi.run(main, 3, strict=True)
    kinds = ["collective-unfinished", "missing-wait"]
    assert sorted(one.kind for one in fakempi.run(main, 3, strict=True, ignore=kinds).suppressed) == kinds


def test_a_search_is_clean_if_a_lost_message_is_suppressed() -> None:
    """Also without buffering, where its send would wait forever; other deadlocks remain failures."""
    without = fakempi.explore(unsuppressed, 2)
    assert len(without.failures) == 2
    found = fakempi.explore(unsuppressed, 2, ignore="message-lost")
    assert (found.verdict, found.suppressed) == ("clean: all 2 schedules", ["message-lost (ignore)"])
    assert fakempi.explore(lost, 2).failures == []
    stuck = fakempi.explore(lambda comm: comm.recv(source=0) if comm.rank else None, 2, ignore="message-lost")
    assert len(stuck.failures) == 1
    assert stuck.unused_suppressions == ["ignore message-lost"]


def unsuppressed(comm: Any) -> None:
    """A message that no rank receives."""
    if comm.rank == 0:
        comm.send(1, 1)


def test_traces_show_suppressed_findings_as_suppressed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such a trace does not begin with them."""
    trace = fakempi.run(unsuppressed, 2, trace=True, ignore="message-lost").trace
    assert trace is not None
    trace.save(tmp_path / "t.json")
    loaded = fakempi.load(tmp_path / "t.json")
    assert loaded.about["findings"][0]["suppressed"] == "ignore"
    loaded.show("findings")
    assert "suppressed (ignore): message-lost: rank 0" in capsys.readouterr().out
    assert not failed(loaded)
