"""`fakempi tour`: the best of it in a minute, station by station."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from rich.text import Text

from fakempi import options as typed
from fakempi.cli.console import console
from fakempi.tour import Page, Walk, pages

WIDEST = 100
TALL = 48
"""Lines of a terminal on which a program and what it prints are one screen."""

NEXT = (
    ("fakempi run -n 64 your_script.py", "your mpi4py program, as it is"),
    ("fakempi run -n 64 --cost hockney:eager_limit=0 your_script.py", "does it rely on buffers?"),
    ("fakempi list allgather", "the algorithms, their claims and sources"),
    ("fakempi compare bcast -n 2..256 --bytes 64k", "which is best for how many ranks"),
    ("pytest --mpi-buffering=zero", "all marked tests without buffers"),
)


def tour(options: Namespace, make_parser: Callable[[], ArgumentParser]) -> int:
    """Show all stations, or those that are asked for; between them, on a terminal, wait for Enter."""
    out = console()
    out.width = min(out.width, WIDEST)
    stations = dict(enumerate(filter(_can_run, pages()), 1))
    if options.list:
        for number, page in stations.items():
            out.print(f"{number}  {page.title}")
        return 0
    chosen = [_number(word, stations) for word in options.stations] or list(stations)
    waits = not options.fast and out.is_terminal and sys.stdin.isatty()

    def do(words: Sequence[str]) -> Any:
        said = make_parser().parse_args(words)
        return said.do(said)

    walk = Walk(out, do, _goes_on) if waits and out.height < TALL else Walk(out, do)
    for number in chosen:
        if not walk.visit(number, stations[number]):
            return 0
        if waits and number != chosen[-1] and not _goes_on("Enter goes on, q leaves "):
            return 0
    if not options.stations:
        _say_goodbye(walk)
    return 0


def _number(word: str, stations: dict[int, Page]) -> int:
    number = typed.whole(word, "stations: say 1 or 2")
    if number not in stations:
        raise typed.wrong(f"there is no station {word}: there are 1 to {len(stations)}, see fakempi tour --list.")
    return number


def _can_run(page: Page) -> bool:
    """Not everybody has pytest."""
    return not any(command.startswith("pytest") for command in page.commands) or find_spec("pytest") is not None


def _goes_on(question: str) -> bool:
    """Ask; the question is gone when it is answered."""
    try:
        answer = input(question)
    except EOFError:
        answer = "q"
    sys.stdout.write("\x1b[1A\x1b[2K")
    return not answer.strip().lower().startswith("q")


def _say_goodbye(walk: Walk) -> None:
    walk.heading("What to try next")
    for command, words in NEXT:
        walk.command(command)
        walk.out.print(Text(f"  {words}", "dim"))
