"""Compares idioms with MPICH, or with what was recorded on it; see `running`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.idioms.running import NOT_HERE, RECORDED, WAYS, Idiom, Printed, idioms, recorded, run, run_here


def main() -> int:
    """Run the command; returns the number of differences."""
    options, chosen = {name for name in sys.argv[1:] if name[0] == "-"}, {name for name in sys.argv[1:] if name[0] != "-"}
    with tempfile.TemporaryDirectory() as directory:
        selected = [idiom for idiom in idioms(Path(directory)) if not chosen or idiom.name in chosen]
        if "--here" in options and not chosen and "--all" not in options:
            selected = [idiom for idiom in selected if idiom.options.get("when") != "full"]
        if "--record" in options:
            record(selected)
            return 0
        count = 0
        for difference in in_this_process(selected) if "--here" in options else differences(selected):
            print(difference, flush=True)
            count += 1
        return count


def record(selected: list[Idiom]) -> None:
    """Write what idioms print on MPICH."""
    known = recorded() if RECORDED.exists() else {}
    for idiom in selected:
        known[idiom.name], errors = run(idiom, "mpich")
        print(idiom.name, *known[idiom.name], errors.strip()[-300:] if known[idiom.name].status else "", flush=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
    RECORDED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def differences(selected: list[Idiom]) -> Iterator[str]:
    """Run idioms on MPICH, and here in both ways."""
    for idiom in selected:
        expected, _ = run(idiom, "mpich")
        for way in WAYS:
            found, errors = run(idiom, way)
            if found != expected:
                yield explain(idiom, way, expected, found, errors)


def in_this_process(selected: list[Idiom]) -> Iterator[str]:
    """Run idioms by the command line in this process, and compare with what was recorded on MPICH."""
    known = recorded()
    for idiom in selected:
        if idiom.name not in NOT_HERE:
            found, errors = run_here(idiom)
            if found != known[idiom.name]:
                yield explain(idiom, "here", known[idiom.name], found, errors)


def explain(idiom: Idiom, way: str, expected: Printed, found: Printed, errors: str) -> str:
    """Return a text with both outputs."""
    return f"{idiom.name}, {way}:\n    on MPICH {expected}\n    here     {found}\n{errors[-1500:]}"


if __name__ == "__main__":
    sys.exit(min(main(), 100))
