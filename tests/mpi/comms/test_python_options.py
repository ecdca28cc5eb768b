"""Options of Python's interpreter in command lines."""

from __future__ import annotations

import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi.comms.python_options import python_options


@pytest.mark.parametrize(
    ("words", "options", "rest"),
    [
        ("work.py -O", [], ["work.py", "-O"]),
        ("-u -E -m pkg -u", [], ["-m", "pkg", "-u"]),
        ("-uBq work.py", ["-B", "-q"], ["work.py"]),
        ("-uO work.py", ["-O"], ["work.py"]),
        ("-OO -W error -Xdev -c pass", ["-O", "-O", "-Werror", "-Xdev"], ["-c", "pass"]),
        ("-uWerror -X utf8 -", ["-Werror", "-Xutf8"], ["-"]),
        ("-i work.py", [], ["-i", "work.py"]),
        ("-uW", [], ["-uW"]),
        ("", [], []),
    ],
)
def test_options_before_the_program_are_separated(words: str, options: list[str], rest: list[str]) -> None:
    """Options that do not change how a program runs are removed; an unknown one is left, so that it is reported."""
    assert python_options(words.split()) == (options, rest)


def test_options_for_spawned_ranks_only_are_rejected() -> None:
    """The message says how to start all ranks with them."""

    def main(comm: MPI.Intracomm) -> str:
        with pytest.raises(MPI.Exception) as caught:
            comm.Spawn("python", ["-u", "-B", "-W", "error", "work.py"])
        return str(caught.value)

    text = "Spawn on rank 0: the options -Werror of Python cannot be applied to spawned ranks only."
    found = fakempi.run(main, 1).returns[0]
    assert text in found, found
    assert "python -Werror -m fakempi run" in found
