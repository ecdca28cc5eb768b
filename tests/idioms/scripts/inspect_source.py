import inspect
import linecache
from mpi4py import MPI


def function(a, b=2, *args, key: int = 3, **named) -> str:
    """Doc."""
    return "x"


class K:
    def m(self):
        return inspect.currentframe().f_code.co_qualname if hasattr(inspect.currentframe().f_code, "co_qualname") else "K.m"


comm = MPI.COMM_WORLD
print(comm.rank, inspect.signature(function), inspect.getsource(function).count("\n"), inspect.getsourcelines(K)[1], K().m())
print(
    inspect.getmodule(function).__name__,
    linecache.getline(__file__, 1).strip(),
    inspect.stack()[0].function,
    len(inspect.stack()),
)
# when: full
