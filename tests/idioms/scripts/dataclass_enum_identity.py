import enum
import dataclasses
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Color(enum.Enum):
    RED = enum.auto()
    BLUE = enum.auto()


class Flag(enum.IntFlag):
    A = 1
    B = 2


@dataclasses.dataclass(frozen=True, order=True)
class Item:
    n: int
    color: Color = Color.RED
    tags: tuple = dataclasses.field(default=(), compare=False, repr=False)


items = comm.allgather(Item(comm.size - comm.rank, Color.BLUE, (Flag.A | Flag.B,)))
print(
    comm.rank,
    sorted(items),
    all(i.color is Color.BLUE for i in items),
    items[0].tags[0] is Flag.A | Flag.B,
    {i: 1 for i in items}[Item(1, Color.BLUE)],
)
# when: full
