"""`fakempi tune` writes a file of rules, prints the expected gains, and reports wrong use in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakempi.apps.cli import main
from tests.cli.test_running import Capture

SMALL = ["--cost", "hockney:eager_limit=0", "-n", "4,8", "--bytes", "8,64k", "--operations", "bcast"]


def test_a_classic_file_and_the_expected_gains(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table has a row for each operation; the file says for which machine it is."""
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "rules.txt"
    assert main(["tune", *SMALL, "--for", "openmpi", "-o", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["operation", "cases", "changed", "unsure", "median", "gain", "largest", "gain", "rules"]
    assert lines[1].split()[:2] == ["bcast", "4"]
    assert (
        "The model is unsure where the best algorithm saves less than 5 % of that time; there Open MPI decides." in lines[2]
    )
    assert lines[3].startswith("Use: mpiexec --mca coll_han_priority 0 --mca coll_tuned_use_dynamic_rules 1 ")
    text = path.read_text()
    assert "for the cost model hockney:eager_limit=0\n# and 4,8 ranks." in text
    assert "commutative" not in text


def test_standard_output_has_only_the_file(capsys: Capture) -> None:
    """So that it can be piped."""
    for form in ("openmpi-json", "mpich"):
        assert main(["tune", *SMALL, "--for", form, "-o", "-"]) == 0
        assert json.loads(capsys.readouterr().out)


def test_ranks_per_node_is_a_parameter_of_the_cost_model(tmp_path: Path, capsys: Capture) -> None:
    """The same rules as with the parameter in the text."""
    rest = ["-n", "4,8", "--bytes", "8,64k", "--operations", "bcast,allgather", "--for", "mpich", "-o", "-"]
    assert main(["tune", "--cost", "two_level:inter.t_s=9e-6", "--ranks-per-node", "4", *rest]) == 0
    by_option = capsys.readouterr().out
    assert main(["tune", "--cost", "two_level:inter.t_s=9e-6,ranks_per_node=4", *rest]) == 0
    assert capsys.readouterr().out == by_option


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-n", "1,4"], "-n 1,4: rules are for at least 2 ranks, not for 1."),
        (["-n", "4+2"], "-n 4+2: rules are for one group of ranks, not for 4+2."),
        (
            ["--operations", "bcast,gather"],
            "--operations: for openmpi, operation 'gather' is unknown. Did you mean allgather?",
        ),
        (["--margin", "100"], "--margin 100 is not a percentage from 0 to less than 100."),
        (["--cost", "hocky"], "cost model 'hocky' is unknown. Did you mean hockney?"),
        (
            ["--ranks-per-node", "4"],
            "--ranks-per-node 4: hockney:eager_limit=0,ranks_per_node=4: parameter 'ranks_per_node' is",
        ),
        (["-o", "missing/rules.txt"], "missing/rules.txt cannot be written: there is no directory missing."),
        (["--bytes", "many"], "'many' is not a number"),
        (
            ["--cost", "two_level", "-n", "2,32k", "--operations", "allgather"],
            "allgather neighbor_exchange sends at least 536,870,912 messages on 32,768 ranks, more than ",
        ),
        (["--cost", "torus:shape=2x2", "-n", "8"], "-n 8: torus:shape=2x2 has places for at most 4 ranks."),
    ],
)
def test_wrong_use_is_one_sentence(words: list[str], sentence: str, capsys: Capture) -> None:
    """On standard error, with exit code 2; nothing is written."""
    assert main(["tune", *SMALL, "--for", "openmpi", "-o", "rules.txt", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"fakempi tune: {sentence}")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "m.toml cannot be read: No such file or directory."),
        ("version = 1\n[level.node\n", "m.toml is not valid TOML: "),
        ("version = 2\n[level.node]\ntime = [[0, 1e-6, 0.0]]\n", "m.toml line 1: version: 2 is unknown; "),
        ("version = 1\n", "m.toml: level: there is no table [level.NAME]; "),
        ("version = 1\n[level.node]\ntime = [[0, -1e-6, 0.0]]\n", "m.toml line 3: level.node.time: row 1 has a negative "),
        ("version = 1\nranks_per_node = 2\n[level.node]\ntime = [[0, 1e-6, 0.0]]\n", "m.toml line 2: ranks_per_node=2 "),
    ],
)
def test_a_bad_machine_file_is_one_sentence(
    text: str | None, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """With exit code 2; no rules are written."""
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("m.toml").write_text(text, encoding="utf-8")
    assert main(["tune", *SMALL, "--for", "openmpi", "-o", "rules.txt", "--cost", "m.toml"]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert err.startswith(f"fakempi tune: {sentence}")
    assert not Path("rules.txt").exists()


def test_required_options(capsys: Capture) -> None:
    """The cost model, the numbers of ranks, the format and the file."""
    assert main(["tune"]) == 2
    assert "--cost, -n, --for, -o" in capsys.readouterr().err
