"""Watch the exercise files, check those that the user saves, and handle keys."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep

from rich.console import Console
from rich.text import Text

from fakempi.apps.cli.keyboard import key_reader
from fakempi.apps.cli.learn.actions import hint_lines, run_output, solution_lines, timeline_of
from fakempi.apps.cli.learn.screen import (
    MARKS,
    WIDEST_PICTURE,
    bar,
    details,
    page,
    screen,
    sentence,
    task,
)
from fakempi.apps.course.course import Exercise
from fakempi.apps.course.judge import CheckResult, judge
from fakempi.apps.course.limits import CheckLimits
from fakempi.apps.course.student_directory import UNTOUCHED, StudentDirectory
from fakempi.errors.plurals import counted

FRAME = 10
"""Lines of the screen around the text: progress, title, keys, and empty lines."""

PAUSE = 0.2
"""Seconds between two checks for saved files."""


class Watcher:
    """Shows one exercise at a time. `tick` handles one key or one saved file; `watch` repeats it until the user quits."""

    def __init__(
        self, out: Console, directory: StudentDirectory, limits: CheckLimits, check: Callable[..., CheckResult] = judge
    ) -> None:
        self.out, self.directory, self.limits, self.check = out, directory, limits, check
        self.at: Exercise = directory.next() or next(iter(directory.course))
        self.seen = {exercise.number: self._stamp(exercise) for exercise in directory.course}
        self.verdict: CheckResult | None = None
        self.extra: list[Text] = []
        moved = f"{counted(directory.renamed, 'file')} renamed: exercises have other numbers than before"
        self.message = moved if directory.renamed else ""
        self.alone = False
        self.size = (0, 0)

    def watch(self) -> int:
        """Run until q or Ctrl-C; returns the exit code."""
        try:
            with _keys() as read_keys:
                if self.directory.state(self.at) != UNTOUCHED:
                    self._check()
                self._draw()
                while all(self.tick(key) for key in read_keys(PAUSE).lower() or ("",)):
                    pass
        except KeyboardInterrupt:
            pass
        self.out.print(f"fakempi learn {self.directory.path} continues from here.", soft_wrap=True)
        return 0

    def tick(self, key: str = "") -> bool:
        """Check a saved file, or handle a key; returns False if the key is q."""
        if key == "q":
            return False
        changed = self._saved()
        if changed is not None:
            self.at, self.message, self.extra, self.alone = changed, "", [], False
            self._check()
        elif key:
            self._do(key)
        elif self._screen_size() == self.size:
            return True
        self._draw()
        return True

    def _stamp(self, exercise: Exercise) -> tuple[int, int]:
        try:
            status = self.directory.file(exercise).stat()
        except OSError:
            return 0, 0
        return status.st_mtime_ns, status.st_size

    def _saved(self) -> Exercise | None:
        """Return the last exercise whose file has changed since the previous call, or None."""
        changed = None
        for exercise in self.directory.course:
            stamp = self._stamp(exercise)
            if stamp != self.seen[exercise.number]:
                self.seen[exercise.number] = stamp
                changed = exercise if stamp != (0, 0) else changed  # editors may remove a file briefly
        return changed

    def _check(self) -> None:
        """Check the current exercise."""
        width, _ = self._screen_size()
        with self.out.status(f"checking {self.at.file} ..."):
            verdict = self.check(self.at, self.directory.file(self.at), self.limits, width=width)
        self.directory.note(self.at, verdict.passed)
        self.verdict = verdict
        if not verdict.passed:
            self.message = ""
        elif self.directory.next() is None:
            self.message = f"✓ {self.at.number:02} passed. All exercises are done."
        else:
            runs = counted(verdict.cases, "run")
            self.message = f"✓ {self.at.number:02} passed, in {runs}.  n next exercise, s a solution to compare with yours"

    def _do(self, key: str) -> None:
        self.message, self.extra, self.alone = "", [], key in "sl"
        width, _ = self._screen_size()
        file = self.directory.file(self.at)
        if key == "h":
            self.extra = hint_lines(self.directory, self.at, width)
        elif key == "c":
            self._check()
        elif key in ("n", "b"):
            self._go(key)
        elif key == "l":
            self.extra = self._list()
        elif key == "s":
            self.extra = solution_lines(self.directory, self.at, width)
            self.alone = len(self.extra) > 3  # a refusal leaves the task on the screen
        elif key in ("r", "t"):
            with self.out.status(f"running {file.name} ..."):
                self.extra = (run_output if key == "r" else timeline_of)(self.at, file, width)

    def _go(self, key: str) -> None:
        """Go to another exercise: after a pass, the next that is not passed."""
        following = self.directory.next(self.at) if key == "n" and self.verdict and self.verdict.passed else None
        order = list(self.directory.course)
        place = order.index(self.at) + (1 if key == "n" else -1)
        self.at, self.verdict = following or order[place % len(order)], None

    def _list(self) -> list[Text]:
        """Return the list of all exercises by part, in columns."""
        width, _ = self._screen_size()
        columns = 2 if width < 120 else 3
        cells = []
        for part, exercises in self.directory.course.parts().items():
            cells.append(Text(f"  {part}", "bold cyan"))
            for exercise in exercises:
                mark, style = MARKS[self.directory.state(exercise)]
                name = f"{exercise.number:02} {exercise.title}"
                cells.append(Text.assemble(("  "), (f"{mark} ", style), (name, "bold" if exercise == self.at else "")))
        for cell in cells:
            cell.truncate(width // columns - 1, overflow="ellipsis", pad=True)
        rows = -(-len(cells) // columns)
        return [Text(" ").join(cells[row::rows]) for row in range(rows)]

    def _screen_size(self) -> tuple[int, int]:
        return min(self.out.size.width, WIDEST_PICTURE), self.out.size.height

    def _parts(self, width: int, height: int) -> list[list[Text]]:
        """Return what is shown: the failure, what a key requested, the task, and details as far as they fit."""
        if self.alone:
            return [self.extra]
        wrong = None if self.verdict is None or self.verdict.passed else self.verdict
        failure = [] if wrong is None else sentence(wrong, width)
        extra = [self.extra] if self.extra else []
        whole = page(self.at, width, str(self.directory.file(self.at)))
        used = len(failure) + len(self.extra) + FRAME
        text = whole if not (failure or extra) or used + len(whole) < height else task(self.at, width)
        if extra and used + len(text) >= height:
            return [*extra, text]  # what was requested now is more important than an earlier failure
        rest = details(wrong, width) if wrong is not None and not extra else []
        return [part for part in (failure, *extra, text, *rest) if part]

    def _draw(self) -> None:
        self.size = width, height = self._screen_size()
        parts = self._parts(width, height)
        self.out.clear()
        progress = bar(self.directory.passed(), len(self.directory.course), width)
        file = str(self.directory.file(self.at))
        for line in screen(progress, self.at, file, parts, width, height, self.message):
            self.out.print(line, no_wrap=True, crop=True)


@contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """Yield a function that waits for keys for the given seconds and returns them; on Windows, it uses msvcrt."""
    if sys.platform != "win32":
        with key_reader(sys.stdin.fileno()) as read:
            yield read
        return
    import msvcrt

    def read_key(limit: float) -> str:
        sleep(limit)
        return str(msvcrt.getwch()) if msvcrt.kbhit() else ""

    yield read_key
