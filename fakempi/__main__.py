"""`python -m fakempi` is the command `fakempi`, whose entry point is `start`."""

import os
import sys


def start() -> int:
    """Run the command line and return the exit code, also if Ctrl-C is pressed while modules are imported."""
    try:
        from fakempi.apps.cli.main import main  # takes 0.2 s

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    current, parent_of_package = os.path.realpath(os.curdir), os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if os.path.realpath(sys.path[0]) == current != parent_of_package:
        del sys.path[0]  # otherwise a file `rich.py` in this directory would be imported instead of the package rich

    sys.exit(start())
