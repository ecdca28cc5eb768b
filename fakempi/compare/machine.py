"""What `python -m collectives.measure --csv` found on a machine, to be put beside what is modelled."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError

Place = tuple[str, int, int, int, str]
_NUMBERS = ("p", "q", "bytes")
_PLACE = ("algorithm", *_NUMBERS, "distribution")


@dataclass(frozen=True)
class Machine:
    """Seconds by algorithm, ranks of both groups, bytes and distribution, for one operation, in the order of the file."""

    path: str
    seconds: Mapping[Place, float]

    @property
    def algorithms(self) -> list[str]:
        """Which were measured."""
        return list(dict.fromkeys(place[0] for place in self.seconds))

    @property
    def ranks(self) -> list[tuple[int, int]]:
        """On how many ranks."""
        return list(dict.fromkeys(place[1:3] for place in self.seconds))

    @property
    def sizes(self) -> list[int]:
        """With how many bytes."""
        return list(dict.fromkeys(place[3] for place in self.seconds))

    @property
    def distributions(self) -> list[str]:
        """How they were spread."""
        return list(dict.fromkeys(place[4] for place in self.seconds))

    def renamed(self, names: Mapping[str, str]) -> Machine:
        """The same, with other words for some algorithms."""
        return Machine(self.path, {(names.get(at[0], at[0]), *at[1:]): time for at, time in self.seconds.items()})


def read_machine(path: str, operation: str, kind: str = "intra") -> Machine:
    """What a file has on one operation. A CSV that `fakempi compare` wrote will do as well."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file)
        missing = [name for name in ("operation", "kind", *_PLACE, "seconds") if name not in (lines.fieldnames or ())]
        if missing:
            raise _wrong(f"{path} has no column {missing[0]!r}: it is not from python -m collectives.measure --csv.")
        found: dict[Any, float] = {}
        others: dict[str, None] = {}
        for line in lines:
            if (line["operation"], line["kind"]) != (operation, kind):
                others[line["operation"] if line["kind"] == "intra" else f"{line['kind']}:{line['operation']}"] = None
            elif line["seconds"]:  # it would have been refused
                place, seconds = _read(path, lines.line_num, line)
                if place in found:
                    words = ", ".join(str(each) for each in place if each != "")
                    raise _wrong(f"{path} line {lines.line_num}: this is there for the second time: {words}.")
                found[place] = seconds
    if not found:
        raise _wrong(f"{path} has nothing on {kind} {operation}; it has {', '.join(others) or 'no rows'}.")
    return Machine(path, found)


def _read(path: str, number: int, line: Mapping[str, Any]) -> tuple[tuple[Any, ...], float]:
    try:
        return tuple(int(line[name]) if name in _NUMBERS else line[name] for name in _PLACE), float(line["seconds"])
    except (TypeError, ValueError) as error:
        raise _wrong(f"{path} line {number}: {error}.") from None


def _wrong(sentence: str) -> MPIValueError:
    return MPIValueError(ERR_ARG, sentence)
