"""Random derived datatypes as nested lists: positions of elements, bounds, and construction in MPI.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any

Tree = list[Any]

BASICS: dict[str, tuple[int, int]] = {  # size and alignment in bytes
    "BYTE": (1, 1),
    "CHAR": (1, 1),
    "SIGNED_CHAR": (1, 1),
    "SHORT": (2, 2),
    "INT": (4, 4),
    "LONG": (8, 8),
    "FLOAT": (4, 4),
    "DOUBLE": (8, 8),
    "UINT8_T": (1, 1),
    "UINT16_T": (2, 2),
    "INT32_T": (4, 4),
    "UINT64_T": (8, 8),
    "C_BOOL": (1, 1),
    "C_FLOAT_COMPLEX": (8, 4),
    "C_DOUBLE_COMPLEX": (16, 8),
    "AINT": (8, 8),
}
KINDS = (
    "contiguous",
    "vector",
    "hvector",
    "indexed",
    "hindexed",
    "indexed_block",
    "hindexed_block",
    "struct",
    "subarray",
    "darray",
    "resized",
    "dup",
)
MAX_ENTRIES = 48
FARTHEST = 1500


@dataclass
class Map:
    """A type map: (position, basic type) in the order of the type, and the bounds."""

    entries: list[tuple[int, str]]
    lb: int
    ub: int
    align: int

    @property
    def extent(self) -> int:
        return self.ub - self.lb

    @property
    def size(self) -> int:
        return sum(BASICS[name][0] for _, name in self.entries)


def union(parts: list[tuple[int, Map]]) -> Map:
    """Copies of types at positions."""
    entries = [(place + at, name) for at, each in parts for place, name in each.entries]
    if not parts:
        return Map([], 0, 0, 1)
    bounds = [(at + each.lb, at + each.ub) for at, each in parts]
    return Map(entries, min(lb for lb, _ in bounds), max(ub for _, ub in bounds), max(each.align for _, each in parts))


def blocks(lengths: list[int], places: list[int], child: Map) -> Map:
    """Blocks of one type at positions in bytes."""
    where = zip(lengths, places, strict=True)
    return union([(place + k * child.extent, child) for length, place in where for k in range(length)])


def meaning(tree: Tree) -> Map:
    """The type map of a tree; ["basic", name] is a leaf."""
    kind, *args, last = tree
    if kind == "basic":
        size, align = BASICS[last]
        return Map([(0, last)], 0, size, align)
    if kind == "struct":
        lengths, places = args
        parts = [meaning(each) for each in last]
        whole = union(
            [(at + k * part.extent, part) for n, at, part in zip(lengths, places, parts, strict=True) for k in range(n)]
        )
        whole.ub = whole.lb - (whole.lb - whole.ub) // whole.align * whole.align if whole.entries else whole.ub
        return whole
    child = meaning(last)
    if kind == "dup":
        return child
    if kind == "resized":
        return Map(child.entries, args[0], args[0] + args[1], child.align)
    if kind == "contiguous":
        return blocks([args[0]], [0], child)
    if kind in ("vector", "hvector"):
        count, length, stride = args
        step = stride * (child.extent if kind == "vector" else 1)
        return blocks([length] * count, [k * step for k in range(count)], child)
    if kind in ("indexed", "hindexed"):
        unit = child.extent if kind == "indexed" else 1
        return blocks(args[0], [place * unit for place in args[1]], child)
    if kind in ("indexed_block", "hindexed_block"):
        unit = child.extent if kind == "indexed_block" else 1
        return blocks([args[0]] * len(args[1]), [place * unit for place in args[1]], child)
    if kind == "subarray":
        sizes, subsizes, starts, order = args
        return _grid(sizes, [list(range(at, at + n)) for at, n in zip(starts, subsizes, strict=True)], order, child)
    assert kind == "darray", kind
    size, rank, gsizes, distribs, dargs, psizes, order = args
    coords: list[int] = []
    for extent in reversed(psizes):  # ranks are in row-major order, whatever the order of the array
        coords.insert(0, rank % extent)
        rank //= extent
    chosen = [_dealt(*each) for each in zip(gsizes, distribs, dargs, psizes, coords, strict=True)]
    return _grid(gsizes, chosen, order, child)


def _dealt(n: int, distrib: str, darg: int | None, procs: int, coord: int) -> list[int]:
    if distrib == "NONE":
        return list(range(n))
    size = darg if darg is not None else (1 if distrib == "CYCLIC" else -(-n // procs))
    return [i for i in range(n) if i // size % procs == coord]


def _grid(sizes: list[int], chosen: list[list[int]], order: str, child: Map) -> Map:
    axes = list(range(len(sizes)))
    if order == "F":
        axes.reverse()
    places = [0]
    for axis in axes:  # slowest first
        places = [place * sizes[axis] + i for place in places for i in chosen[axis]]
    found = union([(place * child.extent, child) for place in places])
    return Map(found.entries, 0, child.extent * prod(sizes), child.align)


def overlap(places: list[tuple[int, str]]) -> bool:
    """Whether two elements share a byte."""
    taken: set[int] = set()
    for place, name in places:
        here = range(place, place + BASICS[name][0])
        if not taken.isdisjoint(here):
            return True
        taken.update(here)
    return False


def repeated(tree: Tree, count: int) -> Map:
    """`count` elements of a type, one extent after the other."""
    return blocks([count], [0], meaning(tree))


def inner_trees(tree: Tree) -> list[Tree]:
    """A type and all types inside it."""
    kind, last = tree[0], tree[-1]
    if kind == "basic":
        return [tree]
    return [tree, *(each for child in (last if kind == "struct" else [last]) for each in inner_trees(child))]


def hollow(tree: Tree) -> bool:
    """Whether a type or a type inside it has no elements, or a block of length 0."""
    lengths = [each[1] for each in inner_trees(tree) if each[0] in ("struct", "indexed", "hindexed")]
    return any(not meaning(each).entries for each in inner_trees(tree)) or any(0 in each for each in lengths)


def random_tree(rng: Random, depth: int, basics: list[str] | None = None, disjoint: bool = False) -> Tree:
    """A type of at most `depth` nested constructors; with `disjoint` no two elements share a byte."""
    while True:
        tree = _grow(rng, depth, basics or list(BASICS))
        if not all(meaning(each).entries for each in inner_trees(tree)[1:]):
            continue  # MPI does not define bounds of types without elements, or of types made of them
        if any(each[0] == "struct" and _padded_alike(each) for each in inner_trees(tree)):
            continue
        found = meaning(tree)
        if len(found.entries) > MAX_ENTRIES or any(abs(place) > FARTHEST for place, _ in found.entries):
            continue
        if max(abs(found.lb), abs(found.ub)) > FARTHEST or (disjoint and overlap(found.entries)):
            continue
        return tree


def _padded_alike(tree: Tree) -> bool:
    """Whether a struct of one basic type ends in padding, which MPI recommends and MPICH adds in some cases only."""
    found = meaning(tree)
    parts = zip(tree[1], tree[2], map(meaning, tree[3]), strict=True)
    last = max([place + each.ub + (n - 1) * each.extent for n, place, each in parts if n], default=0)
    return len({name for _, name in found.entries}) == 1 and last != found.ub


def _grow(rng: Random, depth: int, basics: list[str]) -> Tree:
    if depth == 0 or rng.random() < 0.15:
        return ["basic", rng.choice(basics)]
    kind = rng.choice(KINDS)
    if kind == "struct":
        n = rng.randint(0 if rng.random() < 0.1 else 1, 3)
        children = [_grow(rng, depth - 1, basics) for _ in range(n)]
        places, at = [], rng.choice((0, 0, 8, -16))
        for each in children:
            inner = meaning(each)
            places.append(at - min(0, inner.lb))
            at += abs(inner.extent) * 2 + rng.choice((0, 0, 1, 4))
        if rng.random() < 0.2:
            rng.shuffle(places)
        return ["struct", [rng.choice((1, 1, 2, 0)) for _ in children], places, children]
    child = _grow(rng, depth - 1, basics)
    inner = meaning(child)
    unit = max(1, abs(inner.extent))
    n = rng.choice((0, 1, 1, 2, 2, 3))
    if kind == "contiguous":
        return [kind, n, child]
    if kind in ("vector", "hvector"):
        length = rng.choice((1, 1, 2, 3))
        stride = rng.choice((length, length + 1, length + 2, -length - 1, -1, 0, 2))
        return [kind, n, length, stride * unit + rng.choice((0, 0, 1)) if kind == "hvector" else stride, child]
    if kind in ("indexed", "hindexed"):
        lengths = [rng.choice((0, 1, 1, 2)) for _ in range(n)]
        return [kind, lengths, _places(rng, lengths, unit if kind == "hindexed" else 1), child]
    if kind in ("indexed_block", "hindexed_block"):
        length = rng.choice((1, 1, 2))  # for blocks without elements MPICH derives bounds from their positions
        return [kind, length, _places(rng, [length] * n, unit if kind == "hindexed_block" else 1), child]
    order = rng.choice("CF")
    sizes = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
    if kind == "subarray":
        subsizes = [rng.randint(1, size) for size in sizes]
        starts = [rng.randint(0, size - sub) for size, sub in zip(sizes, subsizes, strict=True)]
        return [kind, sizes, subsizes, starts, order, child]
    if kind == "darray":
        distribs = [rng.choice(("BLOCK", "CYCLIC", "NONE")) for _ in sizes]
        psizes = [1 if distrib == "NONE" else rng.randint(1, 3) for distrib in distribs]
        dargs = [
            rng.choice((None, -(-size // procs) + rng.randint(0, 1) if distrib == "BLOCK" else rng.randint(1, 3)))
            for size, procs, distrib in zip(sizes, psizes, distribs, strict=True)
        ]
        dargs = [None if distrib == "NONE" else darg for darg, distrib in zip(dargs, distribs, strict=True)]
        total = prod(psizes)
        return [kind, total, rng.randrange(total), sizes, distribs, dargs, psizes, order, child]
    if kind == "resized":
        lb = rng.choice((0, 0, inner.lb, -4, 8))
        return [kind, lb, max(0, inner.extent + rng.choice((0, 0, 4, 8, 16, -4))), child]
    return ["dup", child]


def _places(rng: Random, lengths: list[int], unit: int) -> list[int]:
    places: list[int] = []
    at = rng.choice((0, 0, 1, 2, -3))
    for length in lengths:
        places.append(at * unit + (rng.choice((0, 1)) if unit > 1 and rng.random() < 0.1 else 0))
        at += length + rng.choice((0, 1, 1, 2))
    if rng.random() < 0.3:
        rng.shuffle(places)
    return places


class DatatypeBuilder:
    """Creates datatypes for one operation and frees them afterwards."""

    def __init__(self, MPI: Any) -> None:
        self.MPI = MPI
        self.made: list[Any] = []

    def keep(self, datatype: Any) -> Any:
        self.made.append(datatype)
        return datatype

    def __enter__(self) -> DatatypeBuilder:
        return self

    def __exit__(self, *_: object) -> None:
        for datatype in self.made:
            datatype.Free()

    def build(self, tree: Tree) -> Any:
        """A committed datatype."""
        datatype = self.grow(tree)
        return datatype if tree[0] == "basic" else datatype.Commit()

    def shifted(self, tree: Tree, count: int, base: int) -> Any:
        """`count` elements of a type as one, moved by `base` bytes, so that no position is negative."""
        return self.keep(self.grow(tree).Create_hindexed([count], [base])).Commit()

    def grow(self, tree: Tree) -> Any:
        MPI = self.MPI
        kind, *args, last = tree
        if kind == "basic":
            return getattr(MPI, last)
        if kind == "struct":
            return self.keep(MPI.Datatype.Create_struct(*args, [self.grow(each) for each in last]))
        child = self.grow(last)
        orders = {"C": MPI.ORDER_C, "F": MPI.ORDER_F}
        if kind == "subarray":
            return self.keep(child.Create_subarray(*args[:3], order=orders[args[3]]))
        if kind == "darray":
            size, rank, gsizes, distribs, dargs, psizes, order = args
            kinds = [getattr(MPI, f"DISTRIBUTE_{each}") for each in distribs]
            dargs = [MPI.DISTRIBUTE_DFLT_DARG if each is None else each for each in dargs]
            return self.keep(child.Create_darray(size, rank, gsizes, kinds, dargs, psizes, orders[order]))
        if kind == "dup":
            return self.keep(child.Dup())
        return self.keep(getattr(child, f"Create_{kind}")(*args))
