"""`fakempi.MPI` lists all public names in a form that type checkers read."""

from __future__ import annotations

import ast
from pathlib import Path

from fakempi import MPI

OURS = {"Any", "TYPE_CHECKING", "annotations", "comm_self", "comm_world", "resolve"}
"""Names that the module uses internally."""


def test_all_names_for_users_are_listed() -> None:
    """Pyright takes an imported name for private that is not in the list: `"SUM" is not exported from module`."""
    public = {name for name in vars(MPI) if not name.startswith(("_", "@"))} - OURS  # pytest adds @ names
    assert set(MPI.__all__) == public | {"COMM_WORLD", "COMM_SELF"}
    assert len(MPI.__all__) == len(set(MPI.__all__))
    assert all(getattr(MPI, name) is not None for name in MPI.__all__)


def test_the_list_is_written_out_and_the_worlds_have_a_type() -> None:
    """Type checkers do not run the module."""
    tree = ast.parse(Path(MPI.__file__).read_text(encoding="utf-8"))
    lists = [node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    assert [ast.literal_eval(one) for one in lists] == [MPI.__all__]
    typed = {ast.unparse(node.target): ast.unparse(node.annotation) for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert typed["COMM_WORLD"] == typed["COMM_SELF"] == "Intracomm"
