"""What `import mpi4py` finds in a script, beside the emulator as its `MPI`: mpi4py's package, written by us.

This folder is the `__path__` of that package, so its modules are found under mpi4py's names, by whatever looks for them:
`from mpi4py.util import pkl5`, `-m mpi4py.bench`. They are shared by all ranks, and what a rank sets is its own.

package    the package itself, and `mpi4py.MPI`
options    `mpi4py.rc`
hidden     names in `mpi4py.MPI` that begin with an underscore
run        `-m mpi4py` and `-m mpi4py.run`
bench      `-m mpi4py.bench`: hello world, ring test, ping-pong
typing     names for annotations
util       dtlib: datatypes of numpy and of MPI; pkl5: objects whose buffers travel by themselves; pool: a Pool
futures    executors whose workers are ranks; `-m mpi4py.futures`
names      what a rank puts into `sys.modules` for itself
"""
