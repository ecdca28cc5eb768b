"""The screen: a timeline with a cursor, details of the event at the cursor, the other views, search, keys and mouse."""

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
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Input, Static

from fakempi.apps.tui.hit_test import Found, Hit, HitTester
from fakempi.apps.tui.viewport import Viewport
from fakempi.errors import TraceError
from fakempi.trace.blocked import shown_end
from fakempi.trace.columns import Columns
from fakempi.trace.levels import levels_of
from fakempi.view.gallery import pictures
from fakempi.view.numbers import seconds
from fakempi.view.palette import in_24_bits
from fakempi.view.rows import fold
from fakempi.view.run_end import failed, headline
from fakempi.view.timeline import label_width, timeline

VIEWS = ("timeline", "summary", "waits", "matrix", "blocks", "critical", "findings")
EDGE = 5
"""Columns right of the timeline, for percentages."""
CHECK_SECONDS = 0.5
"""Time between checks that the terminal exists. Without a terminal, textual's input thread polls without a pause."""

KEYS = "+ - zoom  ←→↑↓ cursor  Enter follow  \\[ ] ranks  / search  ? help  q quit"

HELP = """\
+ -        zoom in and out in time (also the mouse wheel)
[ ]        show more or fewer ranks (also Ctrl and the mouse wheel)
← → ↑ ↓    move in time and to other ranks (also a click)
< >        move by half a window
Enter      follow the message to its other end
/          search for a rank or a text
n p        next or previous search result; without a search, event of the rank
0          show the whole run
1 to 7     timeline, summary, waits, matrix, blocks, critical path, findings
Esc        clear the search, and return to the timeline
?          show this help
q, Ctrl-C  quit"""


def _tabs(current: str) -> str:
    """Return the names of the views with their keys, which can be clicked; the current one is reversed."""
    names = (
        f"[@click=app.view('{name}')]{'[reverse]' * (name == current)}{key} {name}{'[/reverse]' * (name == current)}[/]"
        for key, name in enumerate(VIEWS, 1)
    )
    return "  ".join(names)


class TimelineWidget(Widget, can_focus=True):
    """The timeline with the cursor, as large as the widget."""

    viewport: reactive[Viewport] = reactive(Viewport.whole(1, 1))

    class Pointed(Message):
        """A click or a turn of the mouse wheel at a rank and time."""

        def __init__(self, rank: int, time: float, wheel: float = 0, folds: bool = False) -> None:
            super().__init__()
            self.rank, self.time, self.wheel, self.folds = rank, time, wheel, folds

    class Resized(Message):
        """The timeline has its first width, or another one."""

    def __init__(self, trace: Columns) -> None:
        super().__init__(id="timeline")
        self.trace = trace
        self._area, self._width = Size(), 0

    @property
    def area(self) -> Size:
        """The size; while another view is shown, which makes it zero, the last one."""
        self._area = self.size or self._area
        return self._area

    @property
    def rows(self) -> int:
        """The number of rows without heading, axis and legend."""
        return max(self.area.height - 3, 1)

    def groups(self) -> list[Any]:
        """Return the ranks of each row."""
        shown = range(self.viewport.first, self.viewport.first + self.viewport.count)
        return fold(shown, self.rows, levels_of(self.trace))

    def cell(self) -> float:
        """Return the time of one column."""
        return (self.viewport.end - self.viewport.start) / max(self.area.width - label_width(self.groups()) - EDGE, 1)

    def render(self) -> RenderableType:
        """Return the timeline with the cursor highlighted."""
        viewport, groups = self.viewport, self.groups()
        if self.size.width < 24:
            return Text("too narrow")
        ranks = range(viewport.first, viewport.first + viewport.count)
        end = max(viewport.end, viewport.start + 1e-300)
        text = timeline(self.trace, width=self.size.width, height=self.rows, start=viewport.start, end=end, ranks=ranks)
        row = next((index for index, group in enumerate(groups) if viewport.rank in group), None)
        if row is not None:
            margin = label_width(groups)
            lines = text.split("\n")
            line = lines[row + 1]
            column = min(margin + int((viewport.at - viewport.start) / (self.cell() or 1)), self.size.width - EDGE - 1)
            line.stylize("bold", 0, margin)
            line.stylize("black on bright_red", column, column + 1)
            text = Text("\n").join(lines)
        return in_24_bits(text)

    def _rank_and_time(self, event: events.MouseEvent) -> tuple[int, float]:
        groups = self.groups()
        row = min(max(event.y - 1, 0), len(groups) - 1)
        column = max(event.x - label_width(groups), 0)
        return groups[row][0], min(self.viewport.start + (column + 0.5) * self.cell(), self.viewport.end)

    def on_resize(self) -> None:
        """Report the width, on which the details at the cursor depend: without one, a column is the whole run.

        The search field changes the height only; a message about the search stays.
        """
        if self.size.width not in (0, self._width):
            self._width = self.size.width
            self.post_message(self.Resized())

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to a click."""
        self.post_message(self.Pointed(*self._rank_and_time(event)))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Zoom out."""
        self.post_message(self.Pointed(*self._rank_and_time(event), 1.25, event.ctrl or event.shift))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Zoom in."""
        self.post_message(self.Pointed(*self._rank_and_time(event), 0.8, event.ctrl or event.shift))


class TraceViewer(App[None]):
    """The application."""

    TITLE = "fakempi"
    CSS = """
    #head { height: 1; background: $primary-background; color: $text; text-style: bold; }
    #details { height: 6; border-top: solid $primary-background; padding: 0 1; }
    #search { height: 3; display: none; }
    #search.open { display: block; }
    ContentSwitcher, #timeline, #view { height: 1fr; }
    #tabs { height: 1; color: $text-muted; link-style: none; link-color: $text-muted; }
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
        *(Binding(str(number + 1), f"view('{name}')", show=False) for number, name in enumerate(VIEWS)),
        Binding("enter", "follow", show=False), Binding("slash", "search", show=False), Binding("n", "hit(1)", show=False),
        Binding("p", "hit(-1)", show=False), Binding("0", "all", show=False), Binding("question_mark", "help", show=False),
        Binding("escape", "clear", show=False), Binding("q", "quit", show=False),
        Binding("ctrl+c", "quit", show=False, priority=True),  # at once; textual's own binding only shows a hint
    ]  # fmt: skip

    def __init__(self, trace: Columns, title: str = "") -> None:
        super().__init__()
        self.trace, self.name_of_run = trace, title or "a run"
        self.hit_tester = HitTester(trace)
        self.at_cursor = Hit([])
        self.hits: list[Found] = []
        self.hit, self.query_text = -1, ""

    def run(self, *arguments: Any, headless: bool = False, **options: Any) -> None:
        """Run until the user quits; raises TraceError without a terminal, which could not deliver keys."""
        if not headless and not all(stream and stream.isatty() for stream in (sys.__stdin__, sys.__stderr__)):
            raise TraceError("-i needs a terminal: stdin or stderr is not a terminal.")
        super().run(*arguments, headless=headless, **options)

    def compose(self) -> ComposeResult:
        """Yield the widgets: head, names of the views, timeline or another view, details, search, keys."""
        yield Static(id="head")
        yield Static(_tabs("timeline"), id="tabs")
        with ContentSwitcher(initial="timeline"):
            yield TimelineWidget(self.trace)
            with VerticalScroll(id="view"):
                yield Static(id="view_text")
        yield Static(id="details")
        yield Input(placeholder="a rank, or a part of the name of a call, file or region", id="search")
        yield Static(KEYS, id="keys")

    def on_mount(self) -> None:
        """Show the whole run, or the findings if the run failed."""
        self.timeline = self.query_one(TimelineWidget)
        self.set_viewport(Viewport.whole(shown_end(self.trace), self.trace.ranks))
        self.timeline.focus()
        if failed(self.trace):
            self.action_view("findings")
        if not self.is_headless:
            self.set_interval(CHECK_SECONDS, self._leave_without_terminal)

    def _leave_without_terminal(self) -> None:
        """End if the window was closed or the connection was lost, and SIGHUP did not end the process."""
        if sys.__stdin__ is None or not sys.__stdin__.isatty():
            self.exit()

    def set_viewport(self, viewport: Viewport) -> None:
        """Show a part of the run, and the details at its cursor."""
        self.timeline.viewport = viewport
        cell = self.timeline.cell()
        self.at_cursor = self.hit_tester.at(
            viewport.rank, viewport.at, min(viewport.at + cell, max(shown_end(self.trace), viewport.at + cell))
        )
        last = viewport.first + viewport.count - 1
        times = f"{seconds(viewport.start, 4)} to {seconds(viewport.end, 4)}"
        part = f"{times}, ranks {viewport.first} to {last} of {self.trace.ranks}"
        part += f"; {words}" if (words := headline(self.trace)) else ""
        self.query_one("#head", Static).update(Text(f"{self.name_of_run}: {part}", no_wrap=True, overflow="ellipsis"))
        self._details(self.at_cursor.lines)

    def _details(self, lines: list[str]) -> None:
        self.query_one("#details", Static).update(Text("\n".join(lines[:5]), no_wrap=True, overflow="ellipsis"))

    def on_timeline_widget_pointed(self, event: TimelineWidget.Pointed) -> None:
        """Handle clicks and the mouse wheel."""
        viewport = self.timeline.viewport
        if not event.wheel:
            self.set_viewport(viewport.to(event.rank, event.time))
        elif event.folds:
            self.set_viewport(replace(viewport, rank=event.rank).fold(event.wheel))
        else:
            self.set_viewport(viewport.zoom(event.wheel, event.time))

    def on_timeline_widget_resized(self) -> None:
        """Show the details for another width of the timeline."""
        self.set_viewport(self.timeline.viewport)

    def action_zoom(self, factor: float) -> None:
        """Zoom in time."""
        self.set_viewport(self.timeline.viewport.zoom(factor))

    def action_fold(self, factor: float) -> None:
        """Show more or fewer ranks."""
        self.set_viewport(self.timeline.viewport.fold(factor))

    def action_pan(self, share: float) -> None:
        """Move the window in time."""
        self.set_viewport(self.timeline.viewport.pan(share))

    def action_step(self, ranks: int, columns: int) -> None:
        """Move the cursor by rows and columns."""
        viewport, groups = self.timeline.viewport, self.timeline.groups()
        rank = viewport.rank
        if ranks:  # to the next row; rows of nodes of different sizes have different numbers of ranks
            row = next(index for index, group in enumerate(groups) if rank in group) + ranks
            rank = groups[row][0] if 0 <= row < len(groups) else groups[0][0] - 1 if ranks < 0 else groups[-1][-1] + 1
        self.set_viewport(viewport.to(rank, viewport.at + columns * self.timeline.cell()))

    def action_all(self) -> None:
        """Show the whole run; the cursor stays at its rank and time."""
        viewport = self.timeline.viewport
        self.set_viewport(Viewport.whole(shown_end(self.trace), self.trace.ranks).to(viewport.rank, viewport.at))

    def action_follow(self) -> None:
        """Move the cursor to the other end of the message under it."""
        if self.at_cursor.message < 0:
            return
        row, viewport = self.trace.transfer_rows[self.at_cursor.message], self.timeline.viewport
        other = int(row["dest"] if viewport.rank == row["source"] else row["source"])
        self.set_viewport(viewport.to(other, min(max(viewport.at, float(row["start"])), float(row["arrived"]))))

    def action_view(self, name: str) -> None:
        """Show another view instead of the timeline."""
        self.query_one("#tabs", Static).update(_tabs(name))
        switcher = self.query_one(ContentSwitcher)
        switcher.current = "timeline" if name == "timeline" else "view"
        if name != "timeline":
            self.query_one("#view_text", Static).update(self._view_of(name))
            self.query_one("#view").focus()
        else:
            self.timeline.focus()

    def _view_of(self, name: str) -> Any:
        try:
            return in_24_bits(next(pictures(self.trace, [name], width=max(self.size.width - 3, 40))))
        except TraceError as error:
            return Text(str(error))

    def action_help(self) -> None:
        """Show the keys."""
        self.query_one("#tabs", Static).update(_tabs(""))
        self.query_one(ContentSwitcher).current = "view"
        self.query_one("#view_text", Static).update(Text(HELP))

    def action_search(self) -> None:
        """Open the search field."""
        self.query_one("#search").add_class("open")
        self.query_one("#search").focus()

    def action_clear(self) -> None:
        """Clear the search, and return to the timeline."""
        self.hits = []
        self.query_one("#keys", Static).update(KEYS)
        self.action_close()

    def action_close(self) -> None:
        """Return to the timeline."""
        self.query_one("#search").remove_class("open")
        self.action_view("timeline")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Move to a rank if the text is a number; otherwise search calls, files and names."""
        query = event.value.strip()
        self.action_close()
        if query.isdecimal():
            viewport = self.timeline.viewport
            if int(query) < self.trace.ranks:
                self.set_viewport(viewport.to(int(query), viewport.at))
            else:
                self._message(f"The ranks are 0 to {self.trace.ranks - 1}.")
        elif query:
            self.hits, self.hit, self.query_text = self.hit_tester.search(query), -1, query
            self.query_one("#keys", Static).update(KEYS)
            if self.hits:
                self.action_hit(1)
            else:
                self._message(f"No call, file or region matches {query!r}.")

    def action_hit(self, step: int) -> None:
        """Move to the next or the previous search result; without a search, event of the rank."""
        viewport = self.timeline.viewport
        if self.hits:
            self.hit = (self.hit + step) % len(self.hits)
            found = self.hits[self.hit]
            self.set_viewport(viewport.to(found.rank, found.start))
            if found.region >= 0:
                self._details(self.hit_tester.of_region(found.region))
            position = f"{self.hit + 1} of {len(self.hits)}: {self.query_text}"
            self.query_one("#keys", Static).update(Text(f"{position}   n next  p previous  Esc clear the search", "bold"))
        elif (time := self.hit_tester.next_start(viewport.rank, viewport.at, step)) is not None:
            self.set_viewport(viewport.to(viewport.rank, time))

    def _message(self, text: str) -> None:
        self.query_one("#details", Static).update(Text(text))


def browse(trace: Columns, title: str = "") -> None:
    """Show a trace until the user quits."""
    TraceViewer(trace, title).run()
