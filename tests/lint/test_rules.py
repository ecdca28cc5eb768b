"""Each wrong program has its finding at the marked line, and its corrected version has none."""

from __future__ import annotations

import re
import textwrap

from fakempi.apps.lint.analysis.file_analysis import analyzed
from fakempi.apps.lint.linting import lint_text
from fakempi.apps.lint.rules.catalogue import RULES, TITLES, explanation
from tests.helpers.loops import for_each
from tests.lint.collective_programs import COLLECTIVES, HEAD
from tests.lint.message_programs import MESSAGES
from tests.lint.silent_programs import SILENT

PROGRAMS = {**COLLECTIVES, **MESSAGES}


def marked(text: str) -> list[tuple[str, int]]:
    """The codes and lines of the comments `# FM101`."""
    return [
        (found[1], number) for number, line in enumerate(text.splitlines(), 1) if (found := re.search(r"# (FM\d+)$", line))
    ]


def found_in(text: str) -> list[tuple[str, int]]:
    """The codes and lines of the findings."""
    return [(found.code, found.line) for found in lint_text(text)]


@for_each("name", sorted(PROGRAMS))
def test_a_mistake_is_found_and_its_correction_is_silent(name: str) -> None:
    """At the marked line, and only there."""
    wrong, right = (HEAD + program for program in PROGRAMS[name])
    assert marked(wrong)
    assert found_in(wrong) == marked(wrong)
    assert found_in(right) == []


@for_each("name", sorted(SILENT))
def test_correct_programs_have_no_findings(name: str) -> None:
    """Idioms of published programs that look similar to mistakes."""
    assert found_in(HEAD + SILENT[name]) == []


@for_each("code", sorted(RULES))
def test_the_programs_of_an_explanation_have_the_finding_and_none(code: str) -> None:
    """Its wrong program and its right one."""
    programs = {
        kind: textwrap.dedent(text)
        for kind, text in re.findall(r"^(Wrong|Right):\n\n((?:    .*\n)+)", explanation(code), re.MULTILINE)
    }
    assert marked(programs["Wrong"])[0][0] == code
    assert found_in(programs["Wrong"]) == marked(programs["Wrong"])
    assert found_in(programs["Right"]) == []


def test_every_rule_has_programs() -> None:
    """Next to those of its explanation."""
    assert {code for wrong, _ in PROGRAMS.values() for code, _ in marked(wrong)} == set(TITLES)
    assert len(PROGRAMS) >= 30


def test_a_finding_has_both_paths_and_a_fix() -> None:
    """With the lines of the calls, also of those in functions."""
    (found,) = lint_text(HEAD + COLLECTIVES["a function with a collective call"][0])
    assert found.message == (
        "allreduce (line 8, in total) is called only by some ranks: the condition `comm.Get_rank() == 0` differs between "
        "ranks (`comm.Get_rank()` is the rank, line 11)"
    )
    assert found.paths == ("where it holds: allreduce (line 8, in total)", "elsewhere: no collective call")
    assert found.fix


def test_a_program_without_mpi_is_not_interpreted() -> None:
    """Most files of a project."""
    assert analyzed("def f(x):\n    return x\n").functions == []


def test_unusual_syntax_is_interpreted() -> None:
    """Statements of all kinds, at module level and in functions; nothing is found, and nothing fails."""
    text = """
async def f(*a, b=1, **c):
    async with a as x, b: pass
    async for i in x: yield i
    del x, c
    match a:
        case [1, *_] if b: comm.barrier()
        case {"x": y}: return
def g(x, /, y=lambda z: z + rank, *, z=[rank for rank in range(3)]):
    global rank
    rank: int = 3
    nonlocals = [*x, {**y}, {1, 2}, x[1:2, ...], f"{x!r:>{y}}", (w := x), not x, -x, x @ y, x < y < z, await_]
    try: x
    except* ValueError: pass
    while x: break
    else: pass
    for a, (b, *c) in x: continue
    with x: raise x from y
    assert x, y
    return g(*x, **y)
class C(A, metaclass=B):
    x, y = 1, 2
    def f(self): self.x, self.y[0] = self.f(), super().f()
"""
    text = text if hasattr(__import__("ast"), "TryStar") else text.replace("except*", "except")
    assert list(lint_text(HEAD + text)) == []


def test_recursive_functions_end() -> None:
    """Functions that call each other, with a collective call inside."""
    text = "def f(n):\n    comm.barrier()\n    return g(n)\ndef g(n):\n    return f(n - 1) if n else f(rank)\nf(3)\n"
    assert found_in(HEAD + text) == []


def test_the_rank_of_a_program_that_also_runs_without_mpi() -> None:
    """A fallback, `rank = 0`, is for a single process; an attribute has the value that a method leaves."""
    text = """
class Sampler:
    def __init__(self):
        try:
            self.comm = MPI.COMM_WORLD
            self.rank = self.comm.Get_rank()
        except Exception:
            self.rank = 0
        self.log = self.rank == 0
        self.calls = self.agreed = 0

    def count(self):
        if self.log:
            self.calls += 1
            self.agreed += 1
        if self.comm.size > 1:
            self.agreed = self.comm.bcast(self.agreed)

    def run(self):
        while self.comm.bcast(True):
            if self.agreed > 3:
                break
            if self.calls > 3:
                break  # FM102
"""
    assert found_in(HEAD + text) == marked(HEAD + text)
