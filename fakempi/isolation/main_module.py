"""The module `__main__` of a command: its code, its names and its exit code. Processes of ranks import this module, too."""

from __future__ import annotations

import builtins
import importlib.util
import sys
from contextlib import suppress
from importlib.machinery import PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from fakempi.errors.tracebacks import shorten


def compiled(source: bytes | str, file: str) -> CodeType:
    """Return the code of a script, or of the text after `-c` if there is no file."""
    return compile(source, file or "<string>", "exec", dont_inherit=True)


def begin_main(names: dict[str, Any], module: str, file: str, is_application: bool) -> CodeType | None:
    """Set the names that Python gives to `__main__`; return the code of a module or application, None for others.

    `module` and `file` are empty unless the command has them; an application is a directory or a zip file.
    """
    code: CodeType | None = None
    if module or is_application:
        spec = module_to_run(module) if module else main_in(file)
        code = spec.loader.get_code(spec.name)
        if module:
            sys.argv[0] = spec.origin
        names.update(__spec__=spec, __file__=spec.origin, __package__=spec.parent, __loader__=spec.loader)
    elif file:
        names.update(__file__=file, __cached__=None, __loader__=SourceFileLoader("__main__", file))
    names["__builtins__"] = builtins
    if sys.version_info < (3, 14):
        names.setdefault("__annotations__", {})
    return code


def main_in(path: str) -> Any:
    """Return the spec of the module `__main__` of a directory or a zip file, or None."""
    return PathFinder.find_spec("__main__", [path])


def module_to_run(name: str) -> Any:
    """Return the spec of the module that `-m name` executes: the module or its `__main__`. Imports parent packages."""
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # an import of the package failed
            raise
        spec = None
    if spec is None or not hasattr(spec.loader, "get_code"):
        raise ModuleNotFoundError(f"No module named {name!r} that can be executed with -m", name=name)
    return spec


def exit_code(error: SystemExit) -> int:
    """Return the exit code as Python does: None is 0, an int is itself, any other object is printed and gives 1."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    sys.stderr.write(f"{error.code}\n")
    return 1


def call_own_excepthook(error: BaseException) -> None:
    """Call `sys.excepthook` if the program has set it; programs do so to call Abort."""
    if sys.excepthook is not sys.__excepthook__:
        call_excepthook(error)


def call_excepthook(error: BaseException) -> None:
    """Call `sys.excepthook`, which prints the exception."""
    shorten(error)
    with suppress(BaseException):
        sys.excepthook(type(error), error, error.__traceback__)


def set_variable(main: ModuleType, name: str, value: object) -> None:
    """Set a variable of a rank's `__main__` between two runs."""
    vars(main)[name] = value


def take_variable(main: ModuleType, name: str) -> Any:
    """Remove a variable of a rank's `__main__` and return its value; None if there is none."""
    return vars(main).pop(name, None)
