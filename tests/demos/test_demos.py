"""Every demo prints what the file beside it says, with greenlets and with threads; pages show the same words."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEMOS = sorted((ROOT / "demos").glob("[0-9][0-9]_*.py"))
LONG = ("05", "07", "08", "10", "11", "13", "14", "16", "21")
"""Numbers of those that take two seconds or more."""

WITHOUT_GREENLETS = """
import runpy, sys
from pathlib import Path
sys.modules["greenlet"] = None  # as if it were not installed
del sys.argv[0]
sys.path[0] = str(Path(sys.argv[0]).parent)  # as Python does for a script
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def printed(*command: str | Path) -> str:
    """What a Python program prints; it must end well and complain about nothing."""
    ended = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


@pytest.mark.parametrize("carrier", ["auto", pytest.param("threads", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "demo", [pytest.param(demo, id=demo.stem, marks=[pytest.mark.slow] * demo.stem.startswith(LONG)) for demo in DEMOS]
)
def test_a_demo_prints_what_the_file_beside_it_says(demo: Path, carrier: str) -> None:
    """If it should print something else from now on: `python demos/NN_name.py > demos/NN_name.out`, and look at it.

    A slow one says `--quick` in its docstring, and the file has what that prints.
    """
    command = [demo, "--quick"] if "--quick" in demo.read_text(encoding="utf-8") else [demo]
    output = printed(*command) if carrier == "auto" else printed("-c", WITHOUT_GREENLETS, *command)
    assert output == demo.with_suffix(".out").read_text(encoding="utf-8")


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.stem)
def test_a_demo_answers_help_and_refuses_what_it_does_not_know(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own words, before it does anything else."""
    monkeypatch.syspath_prepend(str(demo.parent))
    first = " ".join(demo.read_text(encoding="utf-8").partition('"""')[2].split()[:5])
    for word, code in (("--help", (None, 0)), ("--joy", None)):
        monkeypatch.setattr(sys, "argv", [str(demo), word])
        with pytest.raises(SystemExit) as left:
            runpy.run_path(str(demo), run_name="__main__")
        out, err = capsys.readouterr()
        if code:
            assert left.value.code in code
            assert first in " ".join(out.split())
        else:
            assert "--joy" in f"{left.value.code} {err}"
            assert out == ""


def test_every_output_has_its_demo() -> None:
    """None is left over, and they are numbered without a gap."""
    assert sorted((ROOT / "demos").glob("*.out")) == [demo.with_suffix(".out") for demo in DEMOS]
    assert [int(demo.name[:2]) for demo in DEMOS] == list(range(1, len(DEMOS) + 1))


def test_the_readme_shows_a_report_as_it_is() -> None:
    """The deadlock in the README is the second demo's first."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    report = (ROOT / "demos" / "02_deadlock.out").read_text(encoding="utf-8").split("\n\n")[1]
    _, verdict = report.strip().split("\n", 1)  # the demo's own heading comes first
    assert verdict in readme


def test_the_page_shows_the_ratios_of_kang_et_al_as_they_are() -> None:
    """Limit and three clusters, for eight settings: what `demos/08_kang_figures.py` printed."""
    page = (ROOT / "docs" / "papers" / "kang.md").read_text(encoding="utf-8").partition("| published limit |")[2]
    printed_once = (ROOT / "benchmarks" / "kang_figures.out").read_text(encoding="utf-8").partition("paper's limit")[2]
    shown = [line.strip("| ").split(" | ") for line in page.splitlines()[2:10]]
    printed = [line.split() for line in printed_once.splitlines()[1:9]]
    assert [(row[0], row[-4:]) for row in shown] == [(row[0], row[-5:-1]) for row in printed]
    assert len(shown) == 8


def test_the_page_shows_the_six_distributions_as_they_are() -> None:
    """The table of Träff's page is what `benchmarks/blocked_ring.py` printed, which is in the file beside it."""
    page = (ROOT / "docs" / "papers" / "traeff.md").read_text(encoding="utf-8")
    printed_once = (ROOT / "benchmarks" / "blocked_ring.out").read_text(encoding="utf-8")
    title, *table = [line.rstrip() for line in printed_once.split("\n\n")[1].splitlines()]
    assert title.startswith("p = 32, m = 32 MB in all, B = 64 KB")
    assert "\n".join(table) in page
