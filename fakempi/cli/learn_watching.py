"""While somebody works on exercises: look at the files, check what is saved, and read keys."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep

from rich.console import Console
from rich.text import Text

from fakempi.cli.keyboard import pressed
from fakempi.cli.learn_screen import MARKS, WIDEST, WIDEST_PICTURE, bar, details, page, prose, screen, sentence, wrapped
from fakempi.learn.course import Exercise
from fakempi.learn.folder import UNTOUCHED, Folder
from fakempi.learn.judge import Verdict, judge
from fakempi.learn.limits import Limits

PAUSE = 0.2
"""Seconds between two looks at the files."""


class Watcher:
    """Shows one exercise at a time. `tick` is one look; `watch` looks until somebody quits."""

    def __init__(self, out: Console, folder: Folder, limits: Limits, check: Callable[..., Verdict] = judge) -> None:
        self.out, self.folder, self.limits, self.check = out, folder, limits, check
        self.at: Exercise = folder.next() or next(iter(folder.course))
        self.seen = {one.number: self._stamp(one) for one in folder.course}
        self.verdict: Verdict | None = None
        self.extra: list[Text] = []
        self.said = ""
        self.lists = False
        self.size = (0, 0)

    def watch(self) -> int:
        """Until q or Ctrl-C."""
        try:
            with _keys() as typed:
                if self.folder.state(self.at) != UNTOUCHED:
                    self._check()
                self._draw()
                while all(self.tick(key) for key in typed(PAUSE).lower() or ("",)):
                    pass
        except KeyboardInterrupt:
            pass
        self.out.print(f"fakempi learn {self.folder.path} goes on where you are now.", soft_wrap=True)
        return 0

    def tick(self, key: str = "") -> bool:
        """What was saved is checked, what was typed is done; False if that is to quit."""
        if key == "q":
            return False
        changed = self._saved()
        if changed is not None:
            self.at, self.said, self.extra, self.lists = changed, "", [], False
            self._check()
        elif key:
            self._do(key)
        elif self._screen_size() == self.size:
            return True
        self._draw()
        return True

    def _stamp(self, exercise: Exercise) -> tuple[int, int]:
        try:
            told = self.folder.file(exercise).stat()
        except OSError:
            return 0, 0
        return told.st_mtime_ns, told.st_size

    def _saved(self) -> Exercise | None:
        """The exercise whose file is another one since the last look."""
        found = None
        for exercise in self.folder.course:
            stamp = self._stamp(exercise)
            if stamp != self.seen[exercise.number]:
                self.seen[exercise.number] = stamp
                found = exercise if stamp != (0, 0) else found  # editors take files away for a moment
        return found

    def _check(self) -> None:
        """Check the one we are at; if it holds, go on."""
        width, _ = self._screen_size()
        with self.out.status(f"checking {self.at.file} ..."):
            verdict = self.check(self.at, self.folder.file(self.at), self.limits, width=width)
        self.folder.note(self.at, verdict.passed)
        self.verdict = verdict
        if not verdict.passed:
            self.said = ""
            return
        following = self.folder.next(self.at)
        self.said = f"✓ {self.at.number:02} {self.at.title}: it holds, in {verdict.cases} runs."
        if following is None:
            self.said = f"✓ {self.at.number:02} holds, and so do all the others: you have done it."
        else:
            self.at, self.verdict, self.extra = following, None, []

    def _do(self, key: str) -> None:
        self.said, self.lists = "", key == "l"
        if key == "h":
            number, text = self.folder.hint(self.at)
            self.extra = [Text(f"  Hint {number} of {len(self.at.hints)}", "bold magenta")]
            self.extra += wrapped(prose(text), min(self._screen_size()[0], WIDEST))
        elif key == "c":
            self.extra = []
            self._check()
        elif key in ("n", "b"):
            order = list(self.folder.course)
            place = order.index(self.at) + (1 if key == "n" else -1)
            self.at, self.verdict, self.extra = order[place % len(order)], None, []
        elif key == "l":
            self.extra = self._list()
        elif key == "t":
            self.verdict, self.extra = None, []

    def _list(self) -> list[Text]:
        """All exercises, in columns."""
        width, _ = self._screen_size()
        columns = 2 if width < 120 else 3
        cells = []
        for one in self.folder.course:
            mark, style = MARKS[self.folder.state(one)]
            name = f"{one.number:02} {one.title}"
            cell = Text.assemble(("  "), (f"{mark} ", style), (name, "bold" if one == self.at else ""))
            cell.truncate(width // columns - 1, overflow="ellipsis", pad=True)
            cells.append(cell)
        rows = -(-len(cells) // columns)
        return [Text(" ").join(cells[row::rows]) for row in range(rows)]

    def _screen_size(self) -> tuple[int, int]:
        return min(self.out.size.width, WIDEST_PICTURE), self.out.size.height

    def _draw(self) -> None:
        self.size = width, height = self._screen_size()
        parts: list[list[Text]] = [self.extra] if self.extra else []
        if self.lists:
            pass
        elif self.verdict is None:
            parts.append(page(self.at, width))
        elif not self.verdict.passed:
            parts = [sentence(self.verdict, width), *parts, *details(self.verdict, width)]
        self.out.clear()
        progress = bar(self.folder.passed(), len(self.folder.course), width)
        file = str(self.folder.file(self.at))
        for line in screen(progress, self.at, file, parts, width, height, self.said):
            self.out.print(line, no_wrap=True, crop=True)


@contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """A function that waits so long for keys and returns those that were typed; Windows has another one."""
    if sys.platform != "win32":
        with pressed(sys.stdin.fileno()) as read:
            yield read
        return
    import msvcrt

    def look(limit: float) -> str:
        sleep(limit)
        return str(msvcrt.getwch()) if msvcrt.kbhit() else ""

    yield look
