"""`python -m fakempi` is the command `fakempi`."""

import sys

from fakempi.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
