import abc
import typing
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Base(abc.ABC):
    kinds: typing.ClassVar[list] = []

    def __init_subclass__(cls, **k):
        super().__init_subclass__(**k)
        Base.kinds.append(cls.__name__)

    @abc.abstractmethod
    def f(self): ...


class A(Base):
    def f(self):
        return comm.rank


class B(A):
    pass


Base.register(int)
try:
    Base()
except TypeError:
    print("abstract")
print(
    comm.rank,
    Base.kinds,
    isinstance(3, Base),
    comm.bcast(A()).f(),
    typing.get_type_hints(A).keys(),
    issubclass(type(comm), MPI.Comm),
)
# when: full
