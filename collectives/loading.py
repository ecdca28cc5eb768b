"""Algorithms from outside the package: a file that defines ALGORITHM."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

from collectives.catalogue.algorithm import Algorithm


class LoadError(LookupError):
    """A file offers no algorithm; the message is one sentence that says why."""


_loaded: dict[Path, Algorithm] = {}


def load(path: str | os.PathLike[str]) -> Algorithm:
    """The ALGORITHM that a file defines. The file is executed once, however often it is asked for.

    While it is executed, modules in its own folder can be imported.
    """
    place = Path(path).expanduser().resolve()
    if place not in _loaded:
        _loaded[place] = _defined(str(path), _execute(str(path), place))
    return _loaded[place]


def _execute(shown: str, place: Path) -> ModuleType:
    module = ModuleType(f"algorithm_{len(_loaded)}_{place.stem}")
    module.__file__ = str(place)
    before = list(sys.path)
    sys.modules[module.__name__] = module  # a card is read off the module of the algorithm's function
    sys.path.insert(0, str(place.parent))
    try:
        exec(compile(place.read_bytes(), place, "exec"), vars(module))
    except OSError as error:
        raise LoadError(f"{shown} cannot be loaded: {error.strerror or error}.") from None
    except SyntaxError as error:
        raise LoadError(f"{shown} cannot be loaded: line {error.lineno}: {error.msg}.") from None
    except (Exception, SystemExit) as error:
        raise LoadError(f"{shown} cannot be loaded: {type(error).__name__}: {error}.") from error
    finally:
        sys.path[:] = before
        if sys.exc_info()[0]:
            del sys.modules[module.__name__]
    return module


def _defined(shown: str, module: ModuleType) -> Algorithm:
    if not hasattr(module, "ALGORITHM"):
        raise LoadError(f"{shown} defines no ALGORITHM.")
    found = module.ALGORITHM
    if not isinstance(found, Algorithm):
        raise LoadError(f"{shown}: ALGORITHM is a {type(found).__name__}, not an Algorithm.")
    return found
