"""What demos share: where they print, and what people ask of them."""

import sys

from rich.console import Console


def console():
    """For standard output: as wide as the terminal, and 80 columns without colour in a file or a pipe."""
    return Console(width=None if sys.stdout.isatty() else 80, highlight=False, emoji=False, markup=True)


def asked(doc, *known):
    """The words after the demo's name. `--help` shows the demo's own words and ends it; what is not known is refused."""
    words = sys.argv[1:]
    if {"-h", "--help"} & set(words):
        print(doc.strip())
        sys.exit()
    for word in words:
        if word not in known:
            sys.exit(f"{sys.argv[0]}: {word!r} is unknown; --help says what there is.")
    return words
