"""One name, one class: a reader who has met a public class knows what its name means everywhere."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.architecture.source import FILES, ROOT, tree

NAMES_OF_MPI = {"Comm", "File", "Group", "Intercomm", "Intracomm", "Message", "Op", "Request"}
"""The classes of MPI, of `mpi4py.util.pkl5`, and the protocols by which algorithms know them."""


def test_no_two_public_classes_have_the_same_name() -> None:
    """Exercises are excluded: each of them stands alone."""
    found = defaultdict(list)
    for path in FILES:
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.relative_to(ROOT).as_posix())
    assert len(found) > 500
    assert {name: paths for name, paths in found.items() if len(paths) > 1 and name not in NAMES_OF_MPI} == {}
