"""A cell as a program: variables that each rank gets, variables by rank, and the value of the last expression."""

from __future__ import annotations

import ast
import os
import pickle
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from fakempi.errors.plurals import counted
from fakempi.isolation.main_module import set_variable, take_variable
from fakempi.isolation.program import Main, Program
from fakempi.mpi.base.current import running_process

FILE = "cell.py"
RESULT = "_fakempi_result"
"""The variable of each rank that has the value of the cell's last expression."""

STATES: WeakKeyDictionary[Any, tuple[int, dict[int, Main]]] = WeakKeyDictionary()
"""IPython shell -> number of ranks of cells with --keep, and the modules `__main__` of the ranks that have started."""


def program_of(cell: str, directory: str, options: Namespace, shell: Any) -> Program:
    """Return the program of a cell, and write its text to a file, so that reports and tracebacks have names and lines."""
    file = Path(directory, FILE)
    file.write_text(cell, encoding="utf-8")
    script = Program([str(file)], label="[{rank}] " if options.prefix else "", seed=options.seed or 0)
    script.directory = os.getcwd()  # modules next to the notebook can be imported
    script.mains = _kept(options, shell)
    push(options.push, shell.user_ns, script.mains, options.ranks)
    tree = ast.parse(cell, str(file))
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        target = ast.copy_location(ast.Name(RESULT, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
        script.code = compile(tree, str(file), "exec", dont_inherit=True)
    return script


class CheckedCell:
    """A cell that starts anew in each run."""

    def __init__(self, script: Program, options: Namespace, variables: Mapping[str, Any]) -> None:
        self.script, self.options, self.variables = script, options, variables
        self.universe: object = None

    def __call__(self, comm: Any) -> int:
        """Run the cell on a rank; the first one prepares the modules of all."""
        universe = running_process().universe
        if universe is not self.universe:
            self.universe, self.script.mains = universe, {}
            push(self.options.push, self.variables, self.script.mains, self.options.ranks)
        return self.script(comm)


def results(script: Program, codes: Sequence[int]) -> list[Any]:
    """Return the value of the last expression of each rank; the exit code of a rank that ended with one other than 0."""
    mains = script.mains or {}
    values = [take_variable(mains[rank][0], RESULT) if rank in mains else None for rank in range(len(codes))]
    return [code or value for code, value in zip(codes, values, strict=True)]


def pull(names: Sequence[str], script: Program, ranks: int) -> dict[str, list[Any]]:
    """Return variables of the ranks: name -> a list by rank, None where a rank has no such variable."""
    mains, found = script.mains or {}, {}
    for name in names:
        values = [vars(mains[rank][0]) if rank in mains else {} for rank in range(ranks)]
        if not any(name in each for each in values):
            raise ValueError(f"%%mpi --pull {name}: no rank has a variable {name}.")
        found[name] = [each.get(name) for each in values]
    return found


def _kept(options: Namespace, shell: Any) -> dict[int, Main]:
    """Return the modules of ranks that the cell continues; no modules for a cell without --keep, which is independent."""
    if options.reset:
        STATES.pop(shell, None)
    if not options.keep:
        return {}
    ranks, kept = STATES.setdefault(shell, (options.ranks, {}))
    if ranks != options.ranks:
        raise ValueError(
            f"%%mpi --keep: earlier cells ran on {counted(ranks, 'rank')}, but -n is {options.ranks}: "
            f"use -n {ranks}, or --reset to discard their variables."
        )
    return kept


def push(names: Sequence[str], variables: Mapping[str, Any], mains: dict[int, Main], ranks: int) -> None:
    """Give each rank a copy of the notebook's variables, as if the notebook had sent them."""
    for name in names:
        if name not in variables:
            raise ValueError(f"%%mpi --push {name}: the notebook has no variable {name}.")
        try:
            packed = pickle.dumps(variables[name])
        except Exception as error:
            raise ValueError(f"%%mpi --push {name}: it cannot be pickled, so ranks cannot get copies: {error}.") from None
        for rank in range(ranks):
            main, *_ = mains.setdefault(rank, (ModuleType("__main__"), None, None))
            set_variable(main, name, pickle.loads(packed))
