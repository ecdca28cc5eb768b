"""Edge cases of pickling"""

import enum
import functools
import dataclasses
import collections
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD


@dataclasses.dataclass(slots=True, frozen=True)
class P:
    x: int
    y: float = 1.0


class Color(enum.IntFlag):
    RED = 1
    ROT = 1
    BLUE = 2


class Registry(type):
    known = {}  # noqa: RUF012

    def __new__(m, n, b, d):
        c = super().__new__(m, n, b, d)
        m.known[n] = c
        return c


class Base(metaclass=Registry):
    subs = []  # noqa: RUF012

    def __init_subclass__(cls, **k):
        super().__init_subclass__(**k)
        Base.subs.append(cls.__name__)


class A(Base):
    pass


class B(A):
    def __getstate__(self):
        return {"v": self.v}

    def __setstate__(self, s):
        self.v = s["v"] + 1


@functools.singledispatch
def show(x):
    return "object"


@show.register
def _(x: int):
    return "int"


@show.register(A)
def _(x):
    return "A"


class Singleton:
    instance = None

    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
        return cls.instance


class Tree:
    def __init__(self):
        self.me = self
        self.children = [self]


b = B()
b.v = comm.rank
for o in (
    P(1),
    Color.ROT | Color.BLUE,
    Color.ROT,
    A,
    b,
    functools.partial(max, 3),
    b"x" * 70000,
    np.zeros(3, [("a", "i4"), ("b", "f8")]),
    slice(1, 2),
    ...,
    NotImplemented,
    range(3),
    {1, 2},
    frozenset("a"),
    3 + 2j,
    memoryview,
    print,
    show,
    collections.Counter("aab"),
    collections.defaultdict(list, a=[1]),
    ValueError("x"),
):
    try:
        r = comm.bcast(o if comm.rank == 0 else None)
        print(
            comm.rank,
            type(r).__name__,
            r == o if not isinstance(o, np.ndarray) else r.dtype,
            getattr(r, "v", ""),
            len(r) if isinstance(r, bytes) else "",
        )
    except Exception as e:
        if comm.rank == 0:
            print("failed", type(e).__name__, str(e).split(" at 0x")[0])
        break
comm = MPI.COMM_WORLD.Dup()
t = comm.bcast(Tree() if comm.rank == 0 else None)
print(t.me is t, t.children[0] is t)
print(
    sorted(Registry.known), Base.subs, show(A()), show(3), comm.bcast(Singleton() if comm.rank == 0 else None) is Singleton()
)
try:
    comm.bcast(memoryview(b"x") if comm.rank == 0 else None) if comm.rank == 0 else None
except TypeError as e:
    print(e)
