"""User-defined cost models, by the text that users type: `./tree.py:Tree(arity=4)`, `./tree.py`, `package.module:Tree`.

A file is executed as a separate module, with its directory on the path, and again only when it has changed. The arguments in
parentheses are parsed and never evaluated: numbers, words, true and false, none, and lists of these.

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

from fakempi.core.network.cost import CostModel
from fakempi.core.network.guard import examine, line_of
from fakempi.errors import MPIError, MPIValueError
from fakempi.errors.classes import ERR_ARG

_FILE = re.compile(r"(?P<place>.+?\.py)(?::(?P<name>\w*))?\s*(?:\((?P<inside>.*)\))?", re.DOTALL)
_MODULE = re.compile(r"(?P<place>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<inside>.*)\))?", re.DOTALL)
_TOKEN = re.compile(r"""\s*('[^']*'|"[^"]*"|[\[\],=]|[^\s\[\],='"()]+)\s*""")

Read = Callable[[str], Any]
"""Parses a number, or raises a ValueError."""


def user_model(text: str, read: Read) -> CostModel | None:
    """Return the user-defined model of a text; None if the text has another form. `read` parses numbers."""
    match = _FILE.fullmatch(text.strip()) or _MODULE.fullmatch(text.strip())
    if match is None:
        if ".py" in text or "/" in text:
            raise _model_error(f"{text!r} is not a file with a cost model, such as ./tree.py:Tree(arity=4).")
        return None
    place, name, inside = match["place"], match["name"] or "", match["inside"] or ""
    try:
        module = load(place) if place.endswith(".py") else _imported(place)
        kind = _named(module, name) if name else _only_model(module, place)
        return _create(kind, *arguments(inside, read))
    except MPIValueError as error:
        raise _model_error(f"{text}: {error}") from error.__cause__


def _model_error(sentence: str) -> MPIValueError:
    return MPIValueError(ERR_ARG, sentence)


# -- modules ---------------------------------------------------------------------------------------------------------------


def load(path: str) -> ModuleType:
    """Return the module of a file; the same one as before if the file has not changed."""
    full = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(full):
        raise _model_error(f"there is no file {path!r}.")
    with open(full, "rb") as file:
        text = file.read()
    directory, base = os.path.split(full)
    name = f"fakempi_user_{re.sub(r'[^0-9A-Za-z]', '_', base[:-3])}_{crc32(full.encode()):08x}"  # no other module's name
    known = sys.modules.get(name)
    if known is not None and vars(known).get("__text__") == text:
        return known
    module = ModuleType(name)
    vars(module).update(__file__=full, __text__=text)
    sys.modules[name] = module  # dataclasses and pickle look it up
    sys.path.insert(0, directory)
    try:
        exec(compile(text, full, "exec", dont_inherit=True), vars(module))
    except BaseException as error:
        del sys.modules[name]
        raise _not_loaded(path, error) from error
    finally:
        if directory in sys.path:
            sys.path.remove(directory)
    for model in _models(module).values():
        copyreg.pickle(model, _reduced)
    return module


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # another module, which it imports
            raise _not_loaded(name, error) from error
        raise _model_error(f"there is no module and no cost model {name!r}.") from None
    except BaseException as error:
        raise _not_loaded(name, error) from error


def _not_loaded(place: str, error: BaseException) -> BaseException:
    if isinstance(error, KeyboardInterrupt):
        return error
    if isinstance(error, SyntaxError):
        return _model_error(f"{os.path.basename(error.filename or place)}, line {error.lineno}: {error.msg}.")
    return _model_error(f"it cannot be loaded: {_description(error)}")


def _description(error: BaseException) -> str:
    """Return the exception and its line."""
    text = str(error).rstrip(".")
    return f"{type(error).__name__} at {line_of(error)}{f': {text}' if text else ''}."


def _reduced(model: CostModel) -> tuple[Any, ...]:
    """Pickle a model from a file for another process, which loads the file."""
    file = sys.modules[type(model).__module__].__file__
    return _restored, (file, type(model).__qualname__, vars(model))


def _restored(path: str, name: str, state: dict[str, Any]) -> CostModel:
    kind: type[CostModel] = vars(load(path))[name]
    model = kind.__new__(kind)
    vars(model).update(state)
    return model


# -- classes and arguments -------------------------------------------------------------------------------------------------


def _models(module: ModuleType) -> dict[str, type[CostModel]]:
    """Return the cost models that a module defines, except private ones."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, CostModel) and not name.startswith("_")
        and (value.__module__, value.__name__) == (module.__name__, name)
    }  # fmt: skip


def _only_model(module: ModuleType, place: str) -> type[CostModel]:
    models = _models(module)
    if not models:
        raise _model_error("it defines no cost model: a class that derives from fakempi.CostModel.")
    if len(models) > 1:
        raise _model_error(f"it defines {len(models)} cost models, {', '.join(models)}: write {place}:{next(iter(models))}.")
    return next(iter(models.values()))


def _named(module: ModuleType, name: str) -> type[CostModel]:
    if not hasattr(module, name):
        raise _model_error(f"there is no class {name!r}. Cost models there: {', '.join(_models(module)) or 'none'}.")
    kind = getattr(module, name)
    if not isinstance(kind, type):
        raise _model_error(f"{name} is of type {type(kind).__name__}, not a class that derives from fakempi.CostModel.")
    if not issubclass(kind, CostModel):
        raise _model_error(f"the class {name} does not derive from fakempi.CostModel.")
    return kind


def _create(kind: type[CostModel], args: list[Any], keywords: dict[str, Any]) -> CostModel:
    signature = inspect.signature(kind)
    try:
        signature.bind(*args, **keywords)
    except TypeError as error:
        parameters = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
        plain_signature = signature.replace(parameters=parameters, return_annotation=signature.empty)
        raise _model_error(f"{error}; the signature is {kind.__name__}{plain_signature}.") from None
    try:
        model = kind(*args, **keywords)
        examine(model)
    except MPIError as error:
        raise _model_error(str(error)) from error
    except Exception as error:
        raise _model_error(f"{kind.__name__} cannot be created: {_description(error)}") from error
    return model


def arguments(text: str, read: Read) -> tuple[list[Any], dict[str, Any]]:
    """Parse the arguments in the parentheses of a call: positional ones and keyword arguments."""
    tokens, position = [], 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _model_error(f"({text}) cannot be parsed from {text[position:].strip()!r} on.")
        tokens.append(match[1])
        position = match.end()
    args: list[Any] = []
    keywords: dict[str, Any] = {}
    while tokens:
        if tokens[1:2] == ["="]:
            name = tokens[0]
            del tokens[:2]
            if name in keywords:
                raise _model_error(f"({text}) gives {name} twice.")
            keywords[name] = _value(tokens, text, read)
        elif keywords:
            raise _model_error(f"({text}) has a positional argument {tokens[0]!r} after a keyword argument.")
        else:
            args.append(_value(tokens, text, read))
        _comma(tokens, text)
    return args, keywords


def _comma(tokens: list[str], text: str) -> None:
    if tokens and tokens.pop(0) != ",":
        raise _model_error(f"({text}): a comma is missing between two values.")


def _value(tokens: list[str], text: str, read: Read) -> Any:
    token = tokens.pop(0) if tokens else ""
    if token == "[":
        items = []
        while tokens[:1] != ["]"]:
            items.append(_value(tokens, text, read))
            if tokens[:1] != ["]"]:
                _comma(tokens, text)
        tokens.pop(0)
        return items
    if not token or token in "],=":
        raise _model_error(f"({text}): a value is missing{f' before {token!r}' if token else ' at the end'}.")
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
