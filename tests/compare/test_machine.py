"""What was measured on a machine, read from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakempi.compare import rows, sweep
from fakempi.compare.machine import read_machine
from fakempi.compare.rows import to_csv

HEAD = "operation,kind,algorithm,p,q,bytes,distribution,seconds\n"


def test_a_file_is_read_for_one_operation(tmp_path: Path) -> None:
    """What was refused there is not in it; columns may come in any order."""
    file = tmp_path / "m.csv"
    file.write_text(
        "seconds,operation,kind,algorithm,p,q,bytes,distribution,more\n"
        "0.5,allgatherv,intra,ring,4,0,8,spike,x\n,allgatherv,intra,bruck,4,0,8,spike,x\n2,allgatherv,inter,ring,4,2,8,half,x\n"
    )
    machine = read_machine(str(file), "allgatherv")
    assert dict(machine.seconds) == {("ring", 4, 0, 8, "spike"): 0.5}
    assert machine.renamed({"ring": "round"}).seconds == {("round", 4, 0, 8, "spike"): 0.5}
    between = read_machine(str(file), "allgatherv", "inter")
    assert (between.algorithms, between.ranks, between.sizes, between.distributions) == (["ring"], [(4, 2)], [8], ["half"])


def test_a_comparison_can_stand_for_a_machine(tmp_path: Path) -> None:
    """To see two models beside each other."""
    file = tmp_path / "model.csv"
    made = sweep("bcast", [4], [8], cost="hockney:t_s=8,t_w=0.5,eager_limit=0")
    file.write_text(to_csv(rows(made)))
    assert read_machine(str(file), "bcast").seconds["chain", 4, 0, 8, ""] == 36


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "m.csv has no column 'operation': it is not from python -m collectives.measure --csv."),
        ("operation,kind,p\n", "m.csv has no column 'algorithm': it is not from python -m collectives.measure --csv."),
        (HEAD, "m.csv has nothing on intra bcast; it has no rows."),
        (HEAD + "scan,intra,chain,4,0,8,,1\n", "m.csv has nothing on intra bcast; it has scan."),
        (HEAD + "bcast,inter,chain,4,1,8,,1\n", "m.csv has nothing on intra bcast; it has inter:bcast."),
        (HEAD + "bcast,intra,chain,4,0,8,,fast\n", "m.csv line 2: could not convert string to float: 'fast'."),
        (HEAD + "bcast,intra,chain,four,0,8,,1\n", "m.csv line 2: invalid literal for int() with base 10: 'four'."),
        (HEAD + "bcast,intra,chain,4,0,8,,1\n" * 2, "m.csv line 3: this is there for the second time: chain, 4, 0, 8."),
    ],
)
def test_a_file_of_something_else_is_refused(text: str, error: str, tmp_path: Path) -> None:
    """In a sentence."""
    file = tmp_path / "m.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=".") as caught:
        read_machine(str(file), "bcast")
    assert str(caught.value) == f"{tmp_path}/{error}"
