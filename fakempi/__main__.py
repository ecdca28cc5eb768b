"""`python -m fakempi` is the command `fakempi`."""

import os
import sys

if __name__ == "__main__":
    here, home = os.path.realpath(os.curdir), os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if os.path.realpath(sys.path[0]) == here != home:
        del sys.path[0]  # Python looks for modules there first: a file `rich.py` in this folder would be our rich

    from fakempi.cli.main import main

    sys.exit(main())
