"""The screen: a timeline with a cursor, what is under it, the other views as sheets, search, keys and mouse."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Input, Static

from fakempi.errors import TraceError
from fakempi.explorer.glass import Glass
from fakempi.explorer.under import Finder, Found
from fakempi.trace.columns import Columns
from fakempi.view.gallery import pictures
from fakempi.view.numbers import seconds
from fakempi.view.palette import in_24_bits
from fakempi.view.rows import fold
from fakempi.view.timeline import label_width, timeline

SHEETS = ("timeline", "summary", "waits", "matrix", "critical", "blocks", "findings")
EDGE = 5
"""Columns right of the lanes, for percentages."""

HELP = """\
+ -        zoom in time (also the wheel)
[ ]        fold and unfold ranks (also Ctrl and the wheel)
← → ↑ ↓    move the cursor (also a click)
< >        move the window
Enter      follow the message to its other end
/          search for a rank or a word
n p        the next or last of what was searched for
0          everything
1 to 7     timeline, summary, waits, matrix, critical path, blocks, findings
?          this
q          leave"""


class Lanes(Widget, can_focus=True):
    """The timeline, as large as there is room, with the cursor."""

    glass: reactive[Glass] = reactive(Glass.whole(1, 1))

    class Pointed(Message):
        """Somebody has clicked, or turned the wheel there."""

        def __init__(self, rank: int, time: float, wheel: float = 0, folds: bool = False) -> None:
            super().__init__()
            self.rank, self.time, self.wheel, self.folds = rank, time, wheel, folds

    def __init__(self, trace: Columns) -> None:
        super().__init__(id="timeline")
        self.trace = trace

    @property
    def lanes(self) -> int:
        """How many lanes there is room for, beside heading, axis and legend."""
        return max(self.size.height - 3, 1)

    def groups(self) -> list[Any]:
        """The ranks of each lane."""
        return fold(range(self.glass.first, self.glass.first + self.glass.count), self.lanes)

    def cell(self) -> float:
        """How much time a column is."""
        return (self.glass.end - self.glass.start) / max(self.size.width - label_width(self.groups()) - EDGE, 1)

    def render(self) -> RenderableType:
        """The lanes, and the cursor's character the other way round."""
        glass, groups = self.glass, self.groups()
        if self.size.width < 24:
            return Text("too narrow")
        ranks = range(glass.first, glass.first + glass.count)
        end = max(glass.end, glass.start + 1e-300)
        text = timeline(self.trace, width=self.size.width, height=self.lanes, start=glass.start, end=end, ranks=ranks)
        row = next((index for index, group in enumerate(groups) if glass.rank in group), None)
        if row is not None:
            margin = label_width(groups)
            lines = text.split("\n")
            line = lines[row + 1]
            column = min(margin + int((glass.at - glass.start) / (self.cell() or 1)), self.size.width - EDGE - 1)
            line.stylize("bold", 0, margin)
            line.stylize("black on bright_red", column, column + 1)
            text = Text("\n").join(lines)
        return in_24_bits(text)

    def _there(self, event: events.MouseEvent) -> tuple[int, float]:
        groups = self.groups()
        row = min(max(event.y - 1, 0), len(groups) - 1)
        column = max(event.x - label_width(groups), 0)
        return groups[row][0], min(self.glass.start + (column + 0.5) * self.cell(), self.glass.end)

    def on_click(self, event: events.Click) -> None:
        """The cursor goes there."""
        self.post_message(self.Pointed(*self._there(event)))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """See more."""
        self.post_message(self.Pointed(*self._there(event), 1.25, event.ctrl or event.shift))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """See less."""
        self.post_message(self.Pointed(*self._there(event), 0.8, event.ctrl or event.shift))


class Explorer(App[None]):
    """All of it."""

    TITLE = "fakempi"
    CSS = """
    #head { height: 1; background: $primary-background; color: $text; text-style: bold; }
    #details { height: 6; border-top: solid $primary-background; padding: 0 1; }
    #search { height: 3; display: none; }
    #search.open { display: block; }
    ContentSwitcher, #timeline, #sheet { height: 1fr; }
    #keys { height: 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(keys, f"zoom({factor})", show=False) for keys, factor in (("plus,equals_sign", 0.667), ("minus", 1.5))),
        Binding("left_square_bracket", "fold(2.0)", show=False),
        Binding("right_square_bracket", "fold(0.5)", show=False),
        *(Binding(key, f"step({ranks}, {columns})", show=False) for key, ranks, columns in (
            ("up", -1, 0), ("down", 1, 0), ("left", 0, -1), ("right", 0, 1), ("shift+left", 0, -10), ("shift+right", 0, 10),
        )),
        Binding("less_than_sign", "pan(-0.5)", show=False),
        Binding("greater_than_sign", "pan(0.5)", show=False),
        *(Binding(str(number + 1), f"sheet('{name}')", show=False) for number, name in enumerate(SHEETS)),
        Binding("enter", "follow", show=False), Binding("slash", "search", show=False), Binding("n", "hit(1)", show=False),
        Binding("p", "hit(-1)", show=False), Binding("0", "all", show=False), Binding("question_mark", "help", show=False),
        Binding("escape", "close", show=False), Binding("q", "quit", show=False),
    ]  # fmt: skip

    def __init__(self, trace: Columns, title: str = "") -> None:
        super().__init__()
        self.trace, self.name_of_run = trace, title or "a run"
        self.finder = Finder(trace)
        self.found = Found([])
        self.hits: list[tuple[int, float]] = []
        self.hit = -1

    def run(self, *arguments: Any, headless: bool = False, **options: Any) -> None:
        """Until somebody leaves; there must be a terminal, or else it would wait for keys for ever."""
        if not headless and not all(stream and stream.isatty() for stream in (sys.__stdin__, sys.__stderr__)):
            raise TraceError("-i needs a terminal, where it is drawn and keys are pressed: there is none.")
        super().run(*arguments, headless=headless, **options)

    def compose(self) -> ComposeResult:
        """Head, timeline or a sheet, what is under the cursor, search."""
        yield Static(id="head")
        with ContentSwitcher(initial="timeline"):
            yield Lanes(self.trace)
            with VerticalScroll(id="sheet"):
                yield Static(id="words")
        yield Static(id="details")
        yield Input(placeholder="a rank, or a word of a call, a file or a region", id="search")
        yield Static("1-7 views  + - zoom  ←→↑↓ cursor  [ ] fold  / search  ? help  q leave", id="keys")

    def on_mount(self) -> None:
        """Begin with everything, or with what is wrong."""
        self.lanes = self.query_one(Lanes)
        self.look(Glass.whole(self.trace.time, self.trace.ranks))
        self.lanes.focus()
        if self.trace.about.get("ended"):
            self.action_sheet("findings")

    def look(self, glass: Glass) -> None:
        """See that from now on, and say what is under the cursor."""
        self.lanes.glass = glass
        cell = self.lanes.cell()
        self.found = self.finder.at(glass.rank, glass.at, min(glass.at + cell, max(self.trace.time, glass.at + cell)))
        last = glass.first + glass.count - 1
        part = f"{seconds(glass.start, 4)} to {seconds(glass.end, 4)}, ranks {glass.first} to {last} of {self.trace.ranks}"
        self.query_one("#head", Static).update(Text(f"{self.name_of_run}: {part}", no_wrap=True, overflow="ellipsis"))
        self.query_one("#details", Static).update(Text("\n".join(self.found.lines[:5]), no_wrap=True, overflow="ellipsis"))

    def on_lanes_pointed(self, event: Lanes.Pointed) -> None:
        """Clicks and the wheel."""
        glass = self.lanes.glass
        if not event.wheel:
            self.look(glass.to(event.rank, event.time))
        elif event.folds:
            self.look(replace(glass, rank=event.rank).fold(event.wheel))
        else:
            self.look(glass.zoom(event.wheel, event.time))

    def on_resize(self) -> None:
        """The same part, in another size."""
        self.call_after_refresh(lambda: self.look(self.lanes.glass))

    def action_zoom(self, factor: float) -> None:
        """More or less time."""
        self.look(self.lanes.glass.zoom(factor))

    def action_fold(self, factor: float) -> None:
        """More or fewer ranks."""
        self.look(self.lanes.glass.fold(factor))

    def action_pan(self, share: float) -> None:
        """Earlier or later."""
        self.look(self.lanes.glass.pan(share))

    def action_step(self, ranks: int, columns: int) -> None:
        """The cursor, by lanes and columns."""
        glass, groups = self.lanes.glass, self.lanes.groups()
        self.look(glass.to(glass.rank + ranks * len(groups[0]), glass.at + columns * self.lanes.cell()))

    def action_all(self) -> None:
        """Everything, with the cursor where it was."""
        glass = self.lanes.glass
        self.look(Glass.whole(self.trace.time, self.trace.ranks).to(glass.rank, glass.at))

    def action_follow(self) -> None:
        """To the other end of the message under the cursor."""
        if self.found.message < 0:
            return
        row, glass = self.trace.transfer_rows[self.found.message], self.lanes.glass
        other = int(row["dest"] if glass.rank == row["source"] else row["source"])
        self.look(glass.to(other, min(max(glass.at, float(row["start"])), float(row["arrived"]))))

    def action_sheet(self, name: str) -> None:
        """Another view in place of the timeline."""
        switcher = self.query_one(ContentSwitcher)
        switcher.current = "timeline" if name == "timeline" else "sheet"
        if name != "timeline":
            self.query_one("#words", Static).update(self._sheet(name))
            self.query_one("#sheet").focus()
        else:
            self.lanes.focus()

    def _sheet(self, name: str) -> Any:
        if name == "findings":
            about = self.trace.about
            told = [about["ended"]["text"]] if about.get("ended") else []
            told += [finding["text"] for finding in about.get("findings", [])]
            return Text("\n\n".join(told) or "Nothing was found to be wrong with this run.")
        try:
            return in_24_bits(next(pictures(self.trace, [name], width=max(self.size.width - 3, 40))))
        except TraceError as error:
            return Text(str(error))

    def action_help(self) -> None:
        """The keys."""
        self.query_one(ContentSwitcher).current = "sheet"
        self.query_one("#words", Static).update(Text(HELP))

    def action_search(self) -> None:
        """Ask for words."""
        self.query_one("#search").add_class("open")
        self.query_one("#search").focus()

    def action_close(self) -> None:
        """Back to the timeline."""
        self.query_one("#search").remove_class("open")
        self.action_sheet("timeline")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """A number is a rank; anything else is looked for in calls, files and names."""
        words = event.value.strip()
        self.action_close()
        if words.isdecimal():
            glass = self.lanes.glass
            if int(words) < self.trace.ranks:
                self.look(glass.to(int(words), glass.at))
            else:
                self._say(f"The ranks are 0 to {self.trace.ranks - 1}.")
        elif words:
            self.hits, self.hit = list(self.finder.search(words)), -1
            if self.hits:
                self.action_hit(1)
            else:
                self._say(f"Nothing here is called {words!r}.")

    def action_hit(self, step: int) -> None:
        """The next or the last of what was found."""
        if self.hits:
            self.hit = (self.hit + step) % len(self.hits)
            self.look(self.lanes.glass.to(*self.hits[self.hit]))

    def _say(self, words: str) -> None:
        self.query_one("#details", Static).update(Text(words))


def explore(trace: Columns, title: str = "") -> None:
    """Look around in a run until somebody leaves."""
    Explorer(trace, title).run()
