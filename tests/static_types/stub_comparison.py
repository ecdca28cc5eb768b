"""Compares the static types of `fakempi.MPI` with those in mpi4py's stubs.

`python -m tests.static_types.stub_comparison` prints every difference and the number of names compared; it needs mpi4py
and mypy. A probe file reveals each public name of the stubs twice, once with each package: constants, functions, classes
(as their constructors), and all attributes and methods of an instance of each class, inherited ones as well.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.helpers.mpi4py_stub import stub_file

ROOT = Path(__file__).parents[2]

EXCEPTIONS = {
    "Exception": "has an optional second parameter, the message of errors that fakempi raises",
    "Datatype.Pack": "memory only: mpi4py raises an error for lists and tuples; the class Comm is in a higher package",
    "Datatype.Unpack": "as Pack",
    "Datatype.Pack_size": "the class Comm is in a higher package; any object is accepted",
    "Datatype.Pack_external": "as Pack",
    "Datatype.Unpack_external": "as Pack",
    "Grequest.Start": "args has any length; mpi4py's stubs say tuple[Any], which has one item",
    "Op.__call__": "accepts keywords, as mpi4py does; mpi4py's stubs say that x and y are positional",
    "Intracomm.Spawn": "the command may also be a Python function",
    "Intracomm.Spawn_multiple": "as Spawn",
    "Intercomm.Create_from_groups": "returns an Intercomm, as mpi4py does; mpi4py's stubs say Intracomm",
    "Distgraphcomm.Get_dist_neighbors_count": "returns 3 values, as mpi4py does; mpi4py's stubs say int",
}
"""Names, by the class that defines them in the stubs, whose types differ, with the reason."""

STAND_INS = {
    "fakempi.mpi.point.probes.Probes": "Comm",
    "fakempi.mpi.base.status.CountedType": "Datatype",
    "fakempi.mpi.comms.group.HasProcessSets": "Session",
}
"""Types of parameters that stand for a class of a higher package, which is a subtype: a lower package cannot name it."""

_OTHER_NAMES = {"fakempi.errors.MPIError": "Exception", **STAND_INS}
_REVEALED = re.compile(r'^[^:]*:(\d+): note: Revealed type is "(.*)"$')
_ERROR = re.compile(r"^[^:]*:(\d+): error: (.*)$")
_CLASS = re.compile(r"\b(?:mpi4py|fakempi)(?:\.\w+)*\.(\w+)")


def public_names(stub: Path) -> dict[str, str]:
    """Return the names to compare: `NAME` for names of the module, `Class.name` for members of an instance.

    The value is the name in the class that defines the member.
    """
    names: dict[str, str] = {}
    members: dict[str, dict[str, str]] = {}
    for statement in ast.parse(stub.read_text()).body:
        names |= {name: name for name in _defined(statement) if not name.startswith("_")}
        if isinstance(statement, ast.ClassDef):
            kind = statement.name
            inherited = [members.get(ast.unparse(base), {}) for base in statement.bases]
            own = {name: f"{kind}.{name}" for inner in statement.body for name in _defined(inner)}
            members[kind] = {name: origin for known in (*inherited, own) for name, origin in known.items()}
    for kind, known in members.items():
        names |= {f"{kind}.{name}": origin for name, origin in known.items() if name not in ("__new__", "__init__")}
    return names


def _defined(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return [statement.name]
    if isinstance(statement, ast.AnnAssign):
        return [ast.unparse(statement.target)]
    if isinstance(statement, ast.Assign):
        return [ast.unparse(target) for target in statement.targets]
    if isinstance(statement, ast.If):
        return [name for inner in statement.body for name in _defined(inner)]
    return []


def compare(names: list[str]) -> dict[str, tuple[str, str]]:
    """Return for each name its type in mpi4py's stubs and its type in fakempi.

    Names that the stubs define only for newer versions of Python are left out. A name that fakempi does not have has the
    type "missing".
    """
    lines = ["from mpi4py import MPI as theirs", "from fakempi import MPI as ours"]
    for name in names:
        kind, _, member = name.partition(".")
        for package in ("theirs", "ours"):
            member_probe = f"def _(x: {package}.{kind}) -> None: reveal_type(x.{member})"
            lines.append(member_probe if member else f"reveal_type({package}.{kind})")
    revealed, errors = checked("\n".join(lines))
    types = {}
    for i, name in enumerate(names):
        theirs, ours = 2 * i + 3, 2 * i + 4
        if theirs not in errors:
            types[name] = revealed[theirs], "missing" if ours in errors else revealed[ours]
    return types


def checked(text: str) -> tuple[dict[int, str], dict[int, str]]:
    """Return the types that `mypy --strict` reveals in a program, and its errors, by line."""
    output = mypy({"probe.py": text})
    revealed = {int(match[1]): _normalized(match[2]) for line in output if (match := _REVEALED.match(line))}
    errors = {int(match[1]): match[2] for line in output if (match := _ERROR.match(line)) and "[no-redef]" not in match[2]}
    return revealed, errors


@cache
def _mypy_cache() -> TemporaryDirectory[str]:
    """A directory for all calls of a process: the second takes 1 second instead of 15."""
    return TemporaryDirectory()


def mypy(texts: dict[str, str]) -> list[str]:
    """Return the lines that `mypy --strict` prints about files."""
    with TemporaryDirectory() as directory:
        for name, text in texts.items():
            Path(directory, name).write_text(text, encoding="utf-8")
        options = ["--strict", "--config-file=", "--follow-imports=silent", "--no-error-summary"]
        options.append(f"--cache-dir={_mypy_cache().name}")
        command = [sys.executable, "-m", "mypy", *options, *(str(Path(directory, name)) for name in texts)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=270)
    if done.stderr:
        raise RuntimeError(f"mypy failed:\n{done.stdout}{done.stderr}")
    return [line.removeprefix(f"{directory}{os.sep}") for line in done.stdout.splitlines()]


def _normalized(type_: str) -> str:
    """Return the type with short names of classes, the same for both packages."""
    return _CLASS.sub(lambda match: _OTHER_NAMES.get(match[0], match[1]), type_)


def main() -> None:
    """Print the differences."""
    stub = stub_file()
    if stub is None:
        sys.exit("mpi4py is not installed.")
    names = public_names(stub)
    types = compare(list(names))
    differences = {name: pair for name, pair in types.items() if pair[0] != pair[1]}
    for name, (theirs, ours) in differences.items():
        reason = EXCEPTIONS.get(names[name], "NOT LISTED")
        print(f"{name}: {reason}\n    mpi4py:  {theirs}\n    fakempi: {ours}")  # noqa: T201
    print(f"{len(types)} names compared, {len(differences)} differences")  # noqa: T201


if __name__ == "__main__":
    main()
