"""Cost models of one's own, as people type them: `./tree.py:Tree(arity=4)`, `./tree.py`, `package.module:Tree`.

A file is executed as a module of its own, with its folder on the path meanwhile, and again only when it has changed. What
stands between the parentheses is read and never evaluated: numbers, words, true and false, none, and lists of these.

    >>> arguments("4, hop=2.5, name='fat tree', levels=[1, [2, none]], kind=wide", float)
    ([4.0], {'hop': 2.5, 'name': 'fat tree', 'levels': [1.0, [2.0, None]], 'kind': 'wide'})
"""

from __future__ import annotations

import copyreg
import inspect
import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any
from zlib import crc32

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIError, MPIValueError
from fakempi.wire.cost import CostModel
from fakempi.wire.guard import examine, place_of

_FILE = re.compile(r"(?P<place>.+?\.py)(?::(?P<name>\w*))?\s*(?:\((?P<inside>.*)\))?", re.DOTALL)
_MODULE = re.compile(r"(?P<place>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<inside>.*)\))?", re.DOTALL)
_TOKEN = re.compile(r"""\s*('[^']*'|"[^"]*"|[\[\],=]|[^\s\[\],='"()]+)\s*""")

Read = Callable[[str], Any]
"""Makes a number of a word, or raises a ValueError."""


def own_model(text: str, read: Read) -> CostModel | None:
    """The model that somebody has typed, or None if it does not look like one of their own. `read` is for numbers."""
    match = _FILE.fullmatch(text.strip()) or _MODULE.fullmatch(text.strip())
    if match is None:
        if ".py" in text or "/" in text:
            raise _wrong(f"{text!r} should be a file and a cost model in it, such as ./tree.py:Tree(arity=4).")
        return None
    place, name, inside = match["place"], match["name"] or "", match["inside"] or ""
    try:
        module = load(place) if place.endswith(".py") else _imported(place)
        kind = _named(module, name) if name else _only(module, place)
        return _made(kind, *arguments(inside, read))
    except MPIValueError as error:
        raise _wrong(f"{text}: {error}") from error.__cause__


def _wrong(sentence: str) -> MPIValueError:
    return MPIValueError(ERR_ARG, sentence)


# -- where it is -----------------------------------------------------------------------------------------------------------


def load(path: str) -> ModuleType:
    """The module that a file is; the same as last time if the file has not changed."""
    full = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(full):
        raise _wrong(f"there is no file {path!r}.")
    with open(full, "rb") as file:
        text = file.read()
    folder, base = os.path.split(full)
    name = f"fakempi_own_{re.sub(r'[^0-9A-Za-z]', '_', base[:-3])}_{crc32(full.encode()):08x}"  # no other module's name
    known = sys.modules.get(name)
    if known is not None and vars(known).get("__text__") == text:
        return known
    module = ModuleType(name)
    vars(module).update(__file__=full, __text__=text)
    sys.modules[name] = module  # where dataclasses and pickle look
    sys.path.insert(0, folder)
    try:
        exec(compile(text, full, "exec", dont_inherit=True), vars(module))
    except BaseException as error:
        del sys.modules[name]
        raise _not_loaded(path, error) from error
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    for model in _models(module).values():
        copyreg.pickle(model, _reduced)
    return module


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # something else, which it imports
            raise _not_loaded(name, error) from error
        raise _wrong(f"there is no module {name!r} here, nor a cost model of that name.") from None
    except BaseException as error:
        raise _not_loaded(name, error) from error


def _not_loaded(place: str, error: BaseException) -> BaseException:
    if isinstance(error, KeyboardInterrupt):
        return error
    if isinstance(error, SyntaxError):
        return _wrong(f"{os.path.basename(error.filename or place)}, line {error.lineno}: {error.msg}.")
    return _wrong(f"it cannot be loaded: {_what(error)}")


def _what(error: BaseException) -> str:
    """What was raised, and where."""
    words = str(error).rstrip(".")
    return f"{type(error).__name__} at {place_of(error)}{f': {words}' if words else ''}."


def _reduced(model: CostModel) -> tuple[Any, ...]:
    """How one from a file goes to another process, where its module is not known."""
    file = sys.modules[type(model).__module__].__file__
    return _restored, (file, type(model).__qualname__, vars(model))


def _restored(path: str, name: str, state: dict[str, Any]) -> CostModel:
    kind: type[CostModel] = vars(load(path))[name]
    model = kind.__new__(kind)
    vars(model).update(state)
    return model


# -- which, and with what --------------------------------------------------------------------------------------------------


def _models(module: ModuleType) -> dict[str, type[CostModel]]:
    """The cost models that a module defines; those with an underscore are for its own use."""
    return {
        name: thing
        for name, thing in vars(module).items()
        if isinstance(thing, type) and issubclass(thing, CostModel) and not name.startswith("_")
        and (thing.__module__, thing.__name__) == (module.__name__, name)
    }  # fmt: skip


def _only(module: ModuleType, place: str) -> type[CostModel]:
    models = _models(module)
    if not models:
        raise _wrong("no cost model is defined there: that is a class that derives from fakempi.CostModel.")
    if len(models) > 1:
        raise _wrong(f"{len(models)} cost models are defined there, {', '.join(models)}: say {place}:{next(iter(models))}.")
    return next(iter(models.values()))


def _named(module: ModuleType, name: str) -> type[CostModel]:
    if not hasattr(module, name):
        raise _wrong(f"there is no class {name!r}, but {', '.join(_models(module)) or 'no cost model at all'}.")
    kind = getattr(module, name)
    if not isinstance(kind, type):
        raise _wrong(f"{name} is not a class that derives from fakempi.CostModel, but of type {type(kind).__name__}.")
    if not issubclass(kind, CostModel):
        raise _wrong(f"the class {name} does not derive from fakempi.CostModel.")
    return kind


def _made(kind: type[CostModel], args: list[Any], named: dict[str, Any]) -> CostModel:
    signature = inspect.signature(kind)
    try:
        signature.bind(*args, **named)
    except TypeError as error:
        bare = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
        shown = signature.replace(parameters=bare, return_annotation=signature.empty)
        raise _wrong(f"{error}; it is {kind.__name__}{shown}.") from None
    try:
        model = kind(*args, **named)
        examine(model)
    except MPIError as error:
        raise _wrong(str(error)) from error
    except Exception as error:
        raise _wrong(f"{kind.__name__} cannot be made: {_what(error)}") from error
    return model


def arguments(text: str, read: Read) -> tuple[list[Any], dict[str, Any]]:
    """What stands between the parentheses of a call, by place and by name."""
    tokens, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _wrong(f"({text}) cannot be read from {text[at:].strip()!r} on.")
        tokens.append(match[1])
        at = match.end()
    args: list[Any] = []
    named: dict[str, Any] = {}
    while tokens:
        if tokens[1:2] == ["="]:
            name = tokens[0]
            del tokens[:2]
            if name in named:
                raise _wrong(f"({text}) gives {name} twice.")
            named[name] = _value(tokens, text, read)
        elif named:
            raise _wrong(f"({text}) has {tokens[0]!r} without a name after values with one.")
        else:
            args.append(_value(tokens, text, read))
        _comma(tokens, text)
    return args, named


def _comma(tokens: list[str], text: str) -> None:
    if tokens and tokens.pop(0) != ",":
        raise _wrong(f"({text}) lacks a comma between two values.")


def _value(tokens: list[str], text: str, read: Read) -> Any:
    token = tokens.pop(0) if tokens else ""
    if token == "[":
        found = []
        while tokens[:1] != ["]"]:
            found.append(_value(tokens, text, read))
            if tokens[:1] != ["]"]:
                _comma(tokens, text)
        tokens.pop(0)
        return found
    if not token or token in "],=":
        raise _wrong(f"({text}) lacks a value{f' before {token!r}' if token else ' at its end'}.")
    if token[0] in "'\"":
        return token[1:-1]
    if token.lower() == "none":
        return None
    try:
        return read(token)
    except ValueError:
        if token.isidentifier():
            return token
        raise
