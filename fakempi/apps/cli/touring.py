"""`fakempi tour`: the main features in four short programs, then more pages for those who want them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import redirect_stderr
from importlib.util import find_spec
from typing import Any

from rich.text import Text

from fakempi.apps.cli.console import console
from fakempi.apps.cli.keyboard import key_reader, keyboard
from fakempi.apps.cli.parser import make_parser
from fakempi.apps.tour import Page, Presenter, pages
from fakempi.core import options as parse

WIDEST = 100
TALL = 48
"""Lines of a terminal that shows a program and its output at once."""

NEXT = (
    ("fakempi run -n 64 your_script.py", "run an unmodified mpi4py program"),
    ("fakempi run -n 64 --cost hockney:eager_limit=0 your_script.py", "test whether it relies on buffering"),
    ("fakempi list allgather", "list the algorithms with their claims and sources"),
    ("fakempi compare bcast -n 2..256 --bytes 64k", "compare algorithms for several numbers of ranks"),
    ("pytest --mpi-buffering=zero", "run all marked tests without buffering"),
)


def tour(options: Namespace) -> int:
    """Show all pages, or the chosen ones; on a terminal, wait for a key between them. Returns the exit code."""
    out = console()
    out.width = min(out.width, WIDEST)
    numbered = dict(enumerate(filter(_can_run, pages()), 1))
    if options.list:
        for number, page in numbered.items():
            out.print(f"{number}  {page.title}")
        return 0
    chosen = [_number(text, numbered) for text in options.pages] or list(numbered)
    waits = not options.fast and out.is_terminal and sys.stdin.isatty()

    def run_command(arguments: Sequence[str]) -> Any:
        command = make_parser().parse_args(arguments)
        with redirect_stderr(sys.stdout):  # reports are what a page shows
            return command.do(command)

    presenter = Presenter(out, run_command, _confirmed) if waits and out.height < TALL else Presenter(out, run_command)
    for number in chosen:
        if not presenter.present(number, numbered[number]):
            return 0
        if waits and number != chosen[-1] and not _confirmed(_question(number, numbered)):
            return 0
    if not options.pages:
        _suggest_commands(presenter)
    return 0


def _number(text: str, numbered: dict[int, Page]) -> int:
    number = parse.integer(text, "a page number: use 1 or 2")
    if number not in numbered:
        raise parse.usage_error(
            f"there is no page {text}; the pages are 1 to {len(numbered)}. (To list them, run: fakempi tour --list)"
        )
    return number


def _can_run(page: Page) -> bool:
    """Return whether pytest is installed if the page needs it."""
    return not any(command.startswith("pytest") for command in page.commands) or find_spec("pytest") is not None


def _question(number: int, numbered: dict[int, Page]) -> str:
    """Return the question after a page; after the last one of the tour, what the other pages are about."""
    more = len(numbered) - number
    if numbered[number].suggestion and not numbered[number + 1].suggestion:
        return f"That is the tour. any key: {more} more pages, on papers and on tests, q: quit "
    return "any key: next page, q: quit "


def _confirmed(question: str) -> bool:
    """Wait for a key, and erase the question; `q` is no."""
    terminal = keyboard()
    if terminal is None:
        try:
            answer = input(question)
        except EOFError:
            answer = "q"
        sys.stdout.write("\x1b[1A\x1b[2K")
        return not answer.strip().lower().startswith("q")
    sys.stdout.write(question)
    sys.stdout.flush()
    with key_reader(terminal) as read:
        while not (key := read(3600)):
            pass
    sys.stdout.write("\r\x1b[2K")
    return key[:1] not in ("q", "Q", "\x04")


def _suggest_commands(presenter: Presenter) -> None:
    presenter.heading("Next steps")
    for command, description in NEXT:
        presenter.command(command)
        presenter.out.print(Text(f"  {description}", "dim"))
