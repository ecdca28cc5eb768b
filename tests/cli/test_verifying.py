"""`fakempi verify`: verdict, exit code, and usage errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fakempi.apps.cli import main
from tests.cli.test_running import Capture

KNOMIAL = '''
"""Broadcast by a tree in which every rank has k - 1 children per round."""

from collectives import Case, algorithm
from collectives.catalogue.schedule import Transfer
from collectives.tools.messages import receive, send


def edges(p, k):
    """The sends of each round, with ranks counted from the root."""
    reached = 1
    while reached < p:
        yield [(v, v + i * reached) for i in range(1, k) for v in range(reached) if v + i * reached < p]
        reached *= k


def schedule(case: Case):
    p, k = case.p, bcast_my_knomial.parameter(case, "k")
    for step in edges(p, k) if case.m else ():
        for i in range(k - 1):
            yield [
                Transfer((case.root + v) % p, (case.root + w) % p, case.m)
                for number, (v, w) in enumerate(step)
                if sum(v == other for other, _ in step[:number]) == i
            ]


@algorithm(schedule=schedule)
def bcast_my_knomial(comm, buf, *, root=0, k=3, tag=0):
    p, rank = comm.Get_size(), comm.Get_rank()
    for step in edges(p, k):
        for v, w in step:
            if (root + v) % p == rank:
                send(comm, buf, (root + w) % p, tag)
            elif (root + w) % p == rank:
                receive(comm, buf, (root + v) % p, tag)
'''


@pytest.fixture(autouse=True)
def _time_to_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the smallest case is not found on a busy machine."""
    monkeypatch.setattr("collectives.verification.sweep.SHRINKING_SECONDS", 250.0)


@pytest.fixture
def knomial(tmp_path: Path) -> Path:
    """A file with a custom algorithm."""
    path = tmp_path / "knomial.py"
    path.write_text(KNOMIAL, encoding="utf-8")
    return path


def test_success_is_reported_in_a_sentence_with_what_was_tried(capsys: Capture) -> None:
    """The exit code is 0, and there is no progress line without a terminal."""
    assert main(["verify", "barrier/linear", "--ranks", "4"]) == 0
    assert capsys.readouterr() == (
        "barrier linear: all claims hold (results, messages, bytes, rounds, modeled time and scratch memory) in 4 cases "
        "on up to 4 ranks.\n  ranks: 1-4\n",
        "",
    )


@pytest.mark.sample
@pytest.mark.slow
def test_a_custom_file_is_verified(knomial: Path, capsys: Capture) -> None:
    """Including its parameter."""
    assert main(["verify", str(knomial), "--ranks", "3"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("bcast my_knomial: all claims hold (results, messages, ")
    heads = ["  ranks", "  roots", "  largest message or block", "  its sizes include every power of two", "  k"]
    assert [re.split(":| up to ", line)[0] for line in lines] == heads
    assert lines[0] == "  ranks: 1-3"
    assert re.search(r"; more than 64 KiB in [1-9]\d* cases$", lines[2])
    assert lines[4] == "  k: 3 (default), 18 values from 2 to 1,000"


@pytest.mark.slow
def test_a_mistake_is_shown_in_the_smallest_case(knomial: Path, capsys: Capture) -> None:
    """One picture for each case, and exit code 1."""
    text = knomial.read_text(encoding="utf-8")
    knomial.with_name("wrong.py").write_text(
        text.replace("send(comm, buf, (root + w)", "w < 4 and send(comm, buf, (root + w)")
    )
    assert main(["verify", str(knomial.with_name("wrong.py")), "--ranks", "6"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    *lines, last, _, _, _, _ = out.splitlines()
    assert re.fullmatch(r"bcast my_knomial: 1 counterexample in \d+ cases on up to 5 ranks\.", last)  # 30 failures
    assert lines == [
        "bcast my_knomial, deadlock: all unfinished ranks are blocked",
        "smallest case: p = 5, m = 1 byte, root 0; t_s = 1000, t_w = 1, no buffering",
        "    first difference between schedule and run: round 3",
        "    rank   claimed       actual",
        "    0      1 byte to 3   1 byte to 3",
        "    1      1 byte to 4   nothing       <",
        "    2      nothing       nothing",
        "    3      nothing       nothing",
        "    4      nothing       nothing",
        "    deadlock at t = 3003 s: 1 of 5 ranks is blocked, and nothing can wake it.",
        "      rank 4: receive(source=1, tag=0) at wrong.py:36, since t = 0; rank 1 has ended",
    ]


@pytest.mark.slow
def test_a_case_has_one_picture(knomial: Path, capsys: Capture) -> None:
    """A schedule that omits the last rank has wrong messages, bytes, rounds and time."""
    text = knomial.read_text(encoding="utf-8")
    knomial.with_name("short.py").write_text(text.replace("p, k = case.p, ", "p, k = case.p - (case.p > 2), "))
    assert main(["verify", str(knomial.with_name("short.py")), "--ranks", "3"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines if line.startswith("bcast my_knomial,")] == [
        f"bcast my_knomial, {what}" for what in ("messages", "bytes", "rounds", "time")
    ]
    assert sum(line.startswith("smallest case: ") for line in lines) < 4


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["bcast"], "bcast has several algorithms: use bcast/binary, bcast/bine, bcast/binomial, "),
        (["bcast/binomal"], "algorithm of bcast 'binomal' is unknown. Did you mean binomial, "),
        (["inter:allgathr/ring"], "operation 'inter:allgathr' is unknown. Did you mean inter:allgather, "),
        (["./nothing.py"], "./nothing.py cannot be loaded: "),
        (["bcast/binomial", "--ranks", "0"], "--ranks 0: there must be at least 1 rank."),
        (["inter:bcast/wmpi", "--ranks", "1"], "--ranks 1: there must be at least 2 ranks."),
        (["allgather/ring", "--ranks", "64k"], "allgather ring sends at least 4,294,901,760 messages on 65,536 ranks, "),
        (["bcast/binomial", "--ranks", "many"], "'many' is not a number of ranks: use 4 or 1k."),
    ],
)
def test_usage_errors_are_reported_in_one_line(words: list[str], error: str, capsys: Capture) -> None:
    """The exit code is 2."""
    assert main(["verify", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fakempi verify: {error}")


def test_an_expired_time_limit_is_reported(capsys: Capture) -> None:
    """With the work that is left, and without numbers of ranks that were not tried."""
    assert main(["verify", "barrier/linear", "--ranks", "4", "--seconds", "1e-9"]) == 0
    end = "in 1 case on up to 1 rank. The time limit left out 3 more cases.\n  ranks: 1\n"
    assert capsys.readouterr().out.endswith(end)
    assert main(["verify", "barrier/linear", "--seconds", "-1"]) == 2
