"""Pages of algorithm families: the idea, a picture of schedules on 8 ranks, and the members in the catalogue.

The texts are in families.txt; benchmarks/family_pictures.py draws the pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class Picture(NamedTuple):
    """A call on 8 ranks."""

    operation: str
    typed: str
    name: str
    parameters: Mapping[str, Any]

    @property
    def title(self) -> str:
        """Operation and algorithm as typed."""
        return f"{self.operation} {self.typed}"


class Family(NamedTuple):
    """A family: file name, title, the question that its page answers, text, pictures, and the names of its members.

    Every algorithm within a group belongs to one family, by its name.
    """

    file: str
    title: str
    question: str
    text: str
    pictures: tuple[Picture, ...]
    names: tuple[str, ...]


@cache
def all_families() -> tuple[Family, ...]:
    """All families, in the order of the pages."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    return tuple(map(_family, text.split("\n## ")[1:]))


def _family(section: str) -> Family:
    head, question, *lines = section.strip().split("\n")
    file, _, title = head.partition(": ")
    shown, names = (line.partition(": ")[2] for line in lines[-2:])
    pictures = tuple(_picture(*each.split(" ", 1)) for each in shown.split("; "))
    return Family(file, title, question, "\n".join(lines[:-2]).strip(), pictures, tuple(names.split(", ")))


def _picture(operation: str, typed: str) -> Picture:
    from fakempi.core.options import algorithm_names

    ((name, parameters),) = algorithm_names(typed)
    return Picture(operation, typed, str(name), parameters)


def members(family: Family) -> dict[str, list[str]]:
    """The algorithms of a family within a group, by operation."""
    from collectives.bundled import bundled

    found: dict[str, list[str]] = {}
    for algorithm in bundled():
        if algorithm.kind == "intra" and algorithm.name in family.names:
            found.setdefault(algorithm.operation, []).append(algorithm.name)
    return found


def families() -> dict[str, str]:
    """A page for each family, after an index page."""
    rows = [f"| [{family.title}]({family.file}.md) | {family.question} |" for family in all_families()]
    intro = (
        "Which ideas do the algorithms share? Most algorithms are variants of a few ideas. Each page explains one of them, "
        "with pictures of its schedule on 8 ranks, and lists the algorithms of the [catalogue](../catalogue/index.md) that "
        "use it. [Which algorithm when](../which_algorithm.md) shows where they are the fastest."
    )
    index = ["# Families of algorithms", "", intro, "", "| family | question |", "|---|---|", *rows]
    return {"families/index.md": "\n".join(index) + "\n"} | {
        f"families/{family.file}.md": "\n".join(page(family)) + "\n" for family in all_families()
    }


def page(family: Family) -> Iterator[str]:
    """The lines of a family's page."""
    shown = ", ".join(f"`{picture.title}`" for picture in family.pictures)
    yield from (f"# {family.title}", "", family.question, "", family.text, "")
    yield f"![Messages of {shown.replace('`', '')} on 8 ranks](../../pictures/families/{family.file}.svg)"
    yield from ("", f"From top to bottom: {shown}. An arrow is a message, from the start to the end of its transfer.", "")
    yield "A message of n bytes takes 1 + n / 8 units of time; a whole message has 64 bytes, and a block has 8."
    yield from ("", "| operation | algorithms |", "|---|---|")
    for operation, names in members(family).items():
        links = ", ".join(f"[{name}](../catalogue/{operation}.md#{name})" for name in names)
        yield f"| {operation} | {links} |"
