"""Compares idioms on MPICH and here, or records what they print on MPICH."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from tests.idioms.running import RECORDED, idioms, on_mpich, recorded, run, with_fakempi


def main() -> int:
    """The number of idioms that differ."""
    record, chosen = "--record" in sys.argv, [name for name in sys.argv[1:] if name[0] != "-"]
    known = recorded() if RECORDED.exists() else {}
    count = 0
    with tempfile.TemporaryDirectory() as directory:
        for idiom in idioms(Path(directory)):
            if chosen and idiom.name not in chosen:
                continue
            expected, errors = run(idiom, on_mpich(idiom))
            if record:
                known[idiom.name] = expected
                print(idiom.name, *expected, errors.strip()[-300:] if expected.status else "", flush=True)
                continue
            for options in ((), ("--processes",)):
                found, errors = run(idiom, with_fakempi(idiom, *options))
                if found != expected:
                    count += 1
                    print(f"{idiom.name} {' '.join(options)}\n    mpiexec {expected}\n    here    {found}\n{errors[-1500:]}", flush=True)
    if record:
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
        RECORDED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    return count


if __name__ == "__main__":
    sys.exit(min(main(), 100))
