"""How many of the wrong window programs are found, which are not and why; no correct program has a finding."""

from __future__ import annotations

from functools import cache

import fakempi
from fakempi import MPI
from tests.reports.mbi.programs import Case, cases

CLASSES = {getattr(MPI, name): name for name in ("ERR_TYPE", "ERR_RMA_RANGE", "ERR_RMA_SYNC", "ERR_NOT_SAME")}

ONLY_READS = {"load", "load_store"}
"""Python code that reads an array cannot be observed. `load_store` only reads: the value that it reads is odd."""


def verdict(case: Case, strict: bool = True) -> set[str]:
    """The kinds of findings, and the class of an error."""
    try:
        return {one.kind for one in fakempi.run(case.main, case.ranks, strict=strict, check_buffers=True).findings}
    except fakempi.RunError as error:
        found, cause = {one.kind for one in error.findings}, error.__cause__
        if isinstance(cause, MPI.Exception):
            return found | {CLASSES[cause.Get_error_class()]}
        return found if cause is None else found | {type(cause).__name__}


@cache
def verdicts() -> dict[str, tuple[Case, set[str]]]:
    """The outcomes of all programs, in strict runs."""
    return {case.name: (case, verdict(case)) for case in cases()}


def missed(own: bool) -> set[str]:
    """The wrong programs that are not found."""
    found = [(case, kinds) for case, kinds in verdicts().values() if case.is_wrong and (case.origin == "own") is own]
    return {case.name for case, kinds in found if not kinds & set(case.kinds)}


def test_106_of_the_115_wrong_programs_of_mbi_are_found() -> None:
    """The other 9 conflict only by a load of the program. MBI calls 9 more wrong, which only read."""
    of_mbi = [case for case, _ in verdicts().values() if case.origin == "MBI" and case.is_wrong]
    only_labeled = [case for case, _ in verdicts().values() if case.origin == "MBI calls it wrong"]
    assert (len(of_mbi), len(only_labeled)) == (115, 9)
    loads = {f"local_{epoch}_Get_{load}" for epoch in ("fence", "lock", "lock_all") for load in ONLY_READS}
    assert missed(own=False) == loads | {f"remote_{epoch}_Put_load" for epoch in ("fence", "lock", "lock_all")}


def test_wrong_programs_of_ours_that_are_missed() -> None:
    """Loads again; and a store between Post and Wait of a rank that has completed another epoch meanwhile."""
    loads = {"local_groups_Get_load", "local_groups_Get_load_store", "remote_groups_Put_load"}
    assert missed(own=True) == loads | {"remote_groups_Get_store", "remote_groups_Put_store"}
    assert sum(case.origin == "own" and case.is_wrong for case, _ in verdicts().values()) == 50


def test_no_correct_program_has_a_finding() -> None:
    """Programs that MBI calls wrong although they only read have none either."""
    correct = {name: kinds for name, (case, kinds) in verdicts().items() if not case.is_wrong}
    assert len(correct) == 123
    assert {name: kinds for name, kinds in correct.items() if kinds} == {}


def test_findings_without_strict() -> None:
    """With `check_buffers=True` alone, all but two: these store a value that an Irecv has not filled, here the same value.

    A strict run fills buffers of pending receives with other values, so there the store changes the memory.
    """
    strict = {name for name, (case, kinds) in verdicts().items() if kinds & set(case.kinds)}
    lax = {case.name for case in cases() if verdict(case, strict=False) & set(case.kinds)}
    assert strict - lax == {"global_Put_Send_Irecv", "global_Put_Isend_Irecv"}
    assert lax <= strict
