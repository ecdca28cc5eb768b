"""Measurements of a machine, read from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakempi.apps.compare import rows, sweep
from fakempi.apps.compare.measurements import read_measurements
from fakempi.apps.compare.rows import to_csv

HEAD = "operation,kind,algorithm,p,q,bytes,distribution,seconds\n"


def test_a_file_is_read_for_one_operation(tmp_path: Path) -> None:
    """Rejected cases are not included; columns may have any order."""
    file = tmp_path / "m.csv"
    file.write_text(
        "seconds,operation,kind,algorithm,p,q,bytes,distribution,more\n"
        "0.5,allgatherv,intra,ring,4,0,8,spike,x\n,allgatherv,intra,bruck,4,0,8,spike,x\n2,allgatherv,inter,ring,4,2,8,half,x\n"
    )
    measurements = read_measurements(str(file), "allgatherv")
    assert dict(measurements.seconds) == {("ring", 4, 0, 8, "spike"): 0.5}
    assert measurements.renamed({"ring": "round"}).seconds == {("round", 4, 0, 8, "spike"): 0.5}
    between = read_measurements(str(file), "allgatherv", "inter")
    assert measurements.dtype == "char"  # of `python -m collectives.measure`
    assert (between.algorithms, between.ranks, between.sizes, between.distributions) == (["ring"], [(4, 2)], [8], ["half"])


def test_a_comparison_can_be_used_as_a_measurement(tmp_path: Path) -> None:
    """This compares two models."""
    file = tmp_path / "model.csv"
    cost = "hockney:t_s=8,t_w=0.5,eager_limit=0"
    made = sweep("bcast", [4], [8], cost=cost, dtype="double")
    file.write_text(to_csv(rows(made)))
    measurements = read_measurements(str(file), "bcast")
    assert measurements.seconds["chain", 4, 0, 8, ""] == 36
    assert measurements.dtype == "double"
    file.write_text(to_csv(rows(made, sweep("bcast", [4], [16], cost=cost))))
    with pytest.raises(ValueError, match="measurements with several element types: char, double."):
        read_measurements(str(file), "bcast")


def test_the_element_type_is_that_of_the_benchmark(tmp_path: Path) -> None:
    """Versions of the OSU benchmarks reduce elements of different types; old ones do not state it."""
    file = tmp_path / "osu.txt"
    for line, dtype in (("# Datatype: MPI_CHAR.\n", "char"), ("", "")):
        file.write_text(f"# OSU MPI Allreduce Latency Test v7.4\n{line}# Size       Avg Latency(us)\n1    28.46\n")
        assert read_measurements(f"{file}:ranks=4", "allreduce").dtype == dtype


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "m.csv has no column 'operation': it is not from python -m collectives.measure --csv."),
        ("operation,kind,p\n", "m.csv has no column 'algorithm': it is not from python -m collectives.measure --csv."),
        (HEAD, "m.csv has no rows for intra bcast; it has no rows."),
        (HEAD + "scan,intra,chain,4,0,8,,1\n", "m.csv has no rows for intra bcast; it has scan."),
        (HEAD + "bcast,inter,chain,4,1,8,,1\n", "m.csv has no rows for intra bcast; it has inter:bcast."),
        (HEAD + "bcast,intra,chain,4,0,8,,fast\n", "m.csv line 2: seconds is 'fast', and must be a number."),
        (HEAD + "bcast,intra,chain,four,0,8,,1\n", "m.csv line 2: p is 'four', and must be an integer of at least 1."),
        (HEAD + "bcast,intra,chain,4,0,8,,1\n" * 2, "m.csv line 3: duplicate row: chain, 4, 0, 8."),
    ],
)
def test_a_file_of_another_format_is_rejected(text: str, error: str, tmp_path: Path) -> None:
    """With a sentence."""
    file = tmp_path / "m.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=".") as caught:
        read_measurements(str(file), "bcast")
    assert str(caught.value) == f"{tmp_path}/{error}"
