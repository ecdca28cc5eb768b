"""No module replaces methods, the class or the dictionary of an object that it does not own: features use hooks.

The check reads the code of fakempi. It reports an assignment to `x.__class__`, `x.__dict__` or an entry of `vars(x)`, and an
assignment of a function to an attribute `x.name` if some class of fakempi has a method of that name. `x` is not `self`, and
not an object that the same function has created. To keep `vars(x)` in an attribute also counts. `setattr` with a computed
name always counts. A method as a value (`self.meet`) counts only if no class has data of that name.

These do not patch:

* A field that its class declares as `name: Callable[...]` is data. If a class also has a method of that name, an assignment
  counts, since the check does not know the class of `x`: rename the field.
* A module completes a class that it defines, at its top level.
* A descriptor stores the value of its attribute: `vars(x)[self.name]` in `__set__` and `__delete__`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest

from tests.architecture.source import FILES, ROOT, nodes, tree

ISOLATION = ("fakempi/isolation/", "fakempi/processes/child/", "fakempi/extensions/threads/types.py")
"""Process isolation changes what a script takes for its process: `sys`, modules, functions of the standard library.

The last one is `Patch`, which changes three functions in every run and, in runs that may use threads, gives the locks and
threads of the standard library to ranks.
"""

CHANGING = {"update", "setdefault", "pop", "clear"}
Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Scope(NamedTuple):
    """Variables of a function: objects that it owns, dictionaries of other objects, and functions."""

    owned: set[str]
    dictionaries: set[str]
    functions: set[str]


OUTSIDE = Scope({"self", "cls"}, set(), set())


def methods(modules: Iterable[Iterable[ast.AST]]) -> tuple[set[str], set[str]]:
    """Names of methods and hook points, and those of them that are not also names of data in some class."""
    found, data, points = set[str](), set[str](), set[str]()
    for module in modules:
        for node in module:
            if isinstance(node, ast.ClassDef):
                for one in node.body:
                    if isinstance(one, ast.FunctionDef):
                        (data if _is_property(one) else found).add(one.name)
                    elif isinstance(one, ast.AnnAssign) and not _holds_function(one):
                        data.add(dotted(one.target))
                    elif isinstance(one, ast.Assign) and dotted(one.targets[0]) == "__slots__":
                        data |= {str(each.value) for each in ast.walk(one.value) if isinstance(each, ast.Constant)}
            elif isinstance(node, ast.Assign) and dotted(node.targets[0]) == "HOOK_POINTS":
                points |= set(ast.literal_eval(node.value))
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and dotted(node.value) == "self":
                data.add(node.attr)
    return found | points, found - data


def dotted(node: ast.expr | None) -> str:
    """The dotted name `a.b.c`; for any other expression, the part that follows it."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _holds_function(declaration: ast.AnnAssign) -> bool:
    return "Callable" in ast.unparse(declaration.annotation)


def _is_property(function: ast.FunctionDef) -> bool:
    return any(dotted(one).endswith(("property", ".setter")) for one in function.decorator_list)


def patches(scope: ast.AST, names: tuple[set[str], set[str]], outer: Scope = OUTSIDE) -> Iterator[tuple[int, str]]:
    """Each place in a module or function that patches: its line and code.

    A function inherits the scope of the enclosing one.
    """
    nodes = _own_nodes(scope)
    owned = outer.owned | set(_created(nodes))
    if isinstance(scope, ast.Module):
        owned |= {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    known = Scope(owned, set(_dictionaries(nodes, owned)), (outer.functions | _defined(nodes)) - _bound(scope, nodes))
    for node in nodes:
        if isinstance(node, Def):
            yield from patches(node, names, known._replace(owned=outer.owned) if isinstance(scope, ast.Module) else known)
        elif isinstance(node, ast.Call):
            if _is_patching_call(node, known, names):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Delete):
            for target, value in _assignments(node):
                if _is_patch(target, value, known, names) and not _is_descriptors_value(scope, target):
                    yield node.lineno, ast.unparse(node)


def _is_descriptors_value(scope: ast.AST, target: ast.expr) -> bool:
    """Whether a descriptor's `__set__` or `__delete__` changes the entry of its attribute in the instance's dictionary."""
    if not isinstance(scope, ast.FunctionDef) or scope.name not in ("__set__", "__delete__"):
        return False
    instance = scope.args.args[1].arg
    return ast.unparse(target) in (f"vars({instance})[self.name]", f"{instance}.__dict__[self.name]")


def _own_nodes(scope: ast.AST) -> list[ast.AST]:
    """The nodes of a function, without those of functions inside it, in no particular order."""
    found, left = [], list(ast.iter_child_nodes(scope))
    while left:
        node = left.pop()
        found.append(node)
        if not isinstance(node, Def):
            left += ast.iter_child_nodes(node)
    return found


def _defined(nodes: list[ast.AST]) -> set[str]:
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def _bound(scope: ast.AST, nodes: list[ast.AST]) -> set[str]:
    """Parameters and variables."""
    parameters = ast.walk(scope.args) if isinstance(scope, Def) else ()
    bound = {node.arg for node in parameters if isinstance(node, ast.arg)}
    return bound | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _created(nodes: list[ast.AST]) -> Iterator[str]:
    """Variables that hold a new object: what a class returns, or `__new__`, `copy` or `module_from_spec`."""
    for node in nodes:
        for target, value in _assignments(node):
            if isinstance(target, ast.Name) and isinstance(value, ast.Call):
                last = dotted(value.func).split(".")[-1].lstrip("_")
                by_type = isinstance(value.func, ast.Call) and dotted(value.func.func) == "type"
                if last[:1].isupper() or last in ("new__", "copy", "module_from_spec") or by_type:
                    yield target.id


def _dictionaries(nodes: list[ast.AST], owned: set[str]) -> Iterator[str]:
    """Variables that hold the dictionary of an object that the function does not own."""
    for node in nodes:
        for target, value in _assignments(node):
            if isinstance(target, ast.Name) and value is not None and _is_dictionary(value, owned, set()):
                yield target.id


def _is_dictionary(node: ast.expr, owned: set[str], dictionaries: set[str]) -> bool:
    """Whether this is `vars(x)` or `x.__dict__` of an object that the function does not own, or a variable that holds it."""
    if isinstance(node, ast.Name):
        return node.id in dictionaries
    if isinstance(node, ast.Call) and dotted(node.func) == "vars" and node.args:
        return not _is_owned(node.args[0], owned)
    return isinstance(node, ast.Attribute) and node.attr == "__dict__" and not _is_owned(node.value, owned)


def _is_owned(node: ast.expr, owned: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in owned


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Targets and values of a statement; for two tuples, pairs of elements."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _pairs(target, node.value)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.Delete):
        yield from ((target, None) for target in node.targets)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from _pairs(one, other)
    else:
        yield target, value


def _is_patch(target: ast.expr, value: ast.expr | None, known: Scope, names: tuple[set[str], set[str]]) -> bool:
    if isinstance(target, ast.Subscript):
        return _is_dictionary(target.value, known.owned, known.dictionaries)
    if not isinstance(target, ast.Attribute):
        return False
    if any(_is_dictionary(one, known.owned, known.dictionaries) for one in _alternatives(value)):
        return True
    if _is_owned(target.value, known.owned):
        return False
    if target.attr in ("__class__", "__dict__"):
        return True
    return target.attr in names[0] and _is_function(value, known.functions, names[1])


def _alternatives(value: ast.expr | None) -> list[ast.expr]:
    """The expressions of which a conditional expression takes one; of any other expression, itself."""
    if isinstance(value, ast.IfExp):
        return [*_alternatives(value.body), *_alternatives(value.orelse)]
    return [] if value is None else [value]


def _is_function(value: ast.expr | None, functions: set[str], methods: set[str]) -> bool:
    """Whether an expression is a function: a lambda, a partial, or the name of a function or method."""
    if isinstance(value, ast.Call):
        return dotted(value.func) in ("partial", "functools.partial", "MethodType", "types.MethodType")
    if isinstance(value, ast.Attribute):
        return value.attr in methods
    return isinstance(value, ast.Lambda) or (isinstance(value, ast.Name) and value.id in functions)


def _is_patching_call(node: ast.Call, known: Scope, names: tuple[set[str], set[str]]) -> bool:
    if dotted(node.func) in ("setattr", "object.__setattr__"):
        thing, name, value = node.args
        if _is_owned(thing, known.owned) or not isinstance(name, ast.Constant):
            return not _is_owned(thing, known.owned)
        return name.value in names[0] and _is_function(value, known.functions, names[1])
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in CHANGING:
        return False
    return _is_dictionary(node.func.value, known.owned, known.dictionaries)


def test_nothing_outside_process_isolation_patches() -> None:
    """Features subscribe to hooks, pass arguments to constructors, or call methods of the owner."""
    names = methods(nodes(path) for path in FILES if path.is_relative_to(ROOT / "fakempi"))
    checked = [
        path
        for path in FILES
        if path.is_relative_to(ROOT / "fakempi")
        and not path.relative_to(ROOT).as_posix().startswith(ISOLATION)
        and may_patch(nodes(path), names[0])
    ]
    found = [f"{path}:{line} {code}" for path in checked for line, code in patches(tree(path), names)]
    assert len(checked) > 100
    assert found == []


def may_patch(module: Iterable[ast.AST], names: set[str]) -> bool:
    """Whether a module has a node that every patch has one of: a test that takes a tenth of the time of the exact one."""
    return any(
        (isinstance(node, ast.Name) and node.id in ("vars", "setattr"))
        or (
            isinstance(node, ast.Attribute)
            and (
                node.attr in ("__class__", "__dict__", "__setattr__")
                or (node.attr in names and not isinstance(node.ctx, ast.Load))
            )
        )
        for node in module
    )


EXAMPLE = """
class Wire:
    def send(self): ...
    def close(self): self.send = self.close

class Other:
    ended = False
    on_end: Callable[[], None]

class Stored:
    def __set__(self, thing, value):
        vars(thing)[self.name] = value

    def __delete__(self, thing):
        del vars(thing)[self.name]

setattr(Other, name, 1)

def program(wire, other):
    def send(): ...
    {}
"""


@pytest.mark.parametrize(
    "line",
    [
        "wire.send = send",
        "wire.send = lambda: None",
        "wire.send = partial(send, 1)",
        "wire.send, before = other.close, wire.send",
        "wire.__class__ = Other",
        "wire.__dict__['send'] = send",
        "vars(wire)['send'] = send",
        "vars(wire).update(send=send)",
        "vars(wire).setdefault('desk', 1)",
        "own = vars(wire); own['send'] = 1",
        "del vars(wire)['send']",
        "setattr(wire, 'send', send)",
        "setattr(wire, name, 1)",
        "setattr(Wire, name, 1)",
        "Wire.send = send",
        "vars(wire)[self.name] = send",
        "other.kept = vars(wire)",
        "self.kept = {} if other.ended else vars(wire)",
        "run(lambda: setattr(wire, 'send', send))",
    ],
)
def test_patching_is_found(line: str) -> None:
    """Each way to patch."""
    example = ast.parse(EXAMPLE.format(line))
    names = methods([ast.walk(example)])
    assert len(list(patches(example, names))) == 1
    assert may_patch(ast.walk(ast.parse(line)), names[0])


@pytest.mark.parametrize(
    "line",
    [
        "other.ended = True",
        "wire.end = 3.0",
        "other.on_end = send",
        "other.on_end = wire.close",
        "own = {}; own['send'] = send",
        "made = Wire(); made.send = send",
        "made = Wire.__new__(Wire); vars(made).update(vars(wire))",
        "print(vars(wire)['send'])",
        "setattr(wire, 'pointer', 3)",
    ],
)
def test_code_that_does_not_patch_is_not_reported(line: str) -> None:
    """Data, an object that the function owns, and reading."""
    example = ast.parse(EXAMPLE.format(line))
    assert list(patches(example, methods([ast.walk(example)]))) == []
