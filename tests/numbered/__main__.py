"""`python -m tests.numbered`: all programs; the exit code is 1 if a number is not found, or the programs take too long."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, process_time

from tests.numbered.catalogue import PROGRAMS
from tests.numbered.judging import failing_number, lint_codes, problem_of_right

MOST_SECONDS = 60
"""CPU time for the searches of all wrong versions, as issue 65 requires."""

LEAST_VISIBLE = 0.8


def main() -> int:
    """Run all programs; print what is wrong, and a line of numbers."""
    wrong, searches, began = 0, 0.0, monotonic()
    with TemporaryDirectory() as name:
        directory = Path(name)
        for title, program in PROGRAMS.items():
            start = process_time()
            found = failing_number(program, directory)
            searches += process_time() - start
            problem = problem_of_right(program, directory)
            alarms = lint_codes(program, directory, right=True)
            if found != program.smallest or problem or alarms:
                wrong += 1
                print(f"{title}: fails on {found}, not on {program.smallest}; corrected: {problem or 'clean'} {alarms}")
        visible = [program for program in PROGRAMS.values() if program.visible]
        linted = sum(bool(lint_codes(program, directory, right=False)) for program in visible)
    print(
        f"{len(PROGRAMS) - wrong} of {len(PROGRAMS)} programs as expected; the searches took {searches:.0f} s of CPU time, "
        f"everything {monotonic() - began:.0f} s; lint finds {linted} of {len(visible)} visible mistakes"
    )
    return int(bool(wrong) or searches > MOST_SECONDS or linted < LEAST_VISIBLE * len(visible))


if __name__ == "__main__":
    sys.exit(main())
