"""Functions that demos share: the console, and the command line."""

import sys

from rich.console import Console


def console():
    """A console for standard output: as wide as the terminal, or 80 columns without color in a file or pipe."""
    return Console(width=None if sys.stdout.isatty() else 80, highlight=False, emoji=False, markup=True)


def arguments(doc, *known):
    """Return the command-line arguments. `--help` prints the docstring of the demo; an unknown argument is an error."""
    words = sys.argv[1:]
    if {"-h", "--help"} & set(words):
        print(doc.strip())
        sys.exit()
    for word in words:
        if word not in known:
            sys.exit(f"{sys.argv[0]}: unknown argument {word!r}; use --help for a description.")
    return words
