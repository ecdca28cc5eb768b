"""`python -m fakempi.apps.ci tests|scripts`: a step of the action. Its inputs are environment variables."""

import io
import os
import sys

from fakempi.apps.ci.github import error
from fakempi.apps.ci.inputs import InputError, StepInputs


def main(arguments: list[str]) -> int:
    """Run a step; returns the exit code: 1 if a command failed or a test never ran, 2 for a wrong input."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # output of tests may have characters that the log cannot show
    try:
        if arguments not in (["tests"], ["scripts"]):
            raise InputError("usage: python -m fakempi.apps.ci tests|scripts")
        inputs = StepInputs.read(os.environ)
        if arguments == ["tests"]:
            from fakempi.apps.ci.suite import run_tests

            return run_tests(inputs)
        from fakempi.apps.ci.scripts import run_scripts

        return run_scripts(inputs)
    except InputError as problem:
        error(str(problem))
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
