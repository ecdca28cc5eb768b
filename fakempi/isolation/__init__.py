"""Runs an unmodified mpi4py script or module on every rank, as if each rank were a process.

    >>> from fakempi import run
    >>> from fakempi.isolation import Program
    >>> run(Program(["work.py", "a", "b"]), 4)                  # doctest: +SKIP
    >>> run(Program(["-m", "package.module", "a"]), 4)          # doctest: +SKIP

program    running a command on a rank: find the code, execute it, exit
main_module    the module `__main__` of a command: code, names, exit code
namespace    installs the state of a rank while that rank runs
rank_state    the interpreter state of one rank
process_state    working directory and environment variables of each rank
settings/    settings of the process that belong to a rank: attributes of modules, signal handlers, variables of a launcher
imports    private and shared modules, and the finder that imports them
finders    the order of finders on `sys.meta_path`
packages/    which installed packages each rank needs a copy of, and failures that come from sharing one
loaders    loaders that share work between ranks
shadowed_modules    files next to the script that shadow modules of the emulator
mpi4py_modules    the modules that `import mpi4py` finds
mpi4py/    the emulated mpi4py package, apart from `mpi4py.MPI`
output    a standard output for each rank; standard input for rank 0
lines    whole lines, as bytes, on their way to a stream
clocks    clocks of the standard library in modeled time
coroutines    asyncio on every rank, in modeled time
sockets    sockets that let other ranks run while they wait
debugging    pdb on any rank
pickling    pickling for process pools, with the modules of the right rank
tracked_names    names that ranks have registered at the resource tracker of multiprocessing
os_exit    `os._exit` on one rank
os_exec    `os.execv`, which would replace the process
workers    processes that a program has started with multiprocessing
patches    replacements for functions of the standard library and of numpy

How it works:

* The state of a rank (`RankState`) is installed in the interpreter while that rank runs: `sys.argv`, `sys.path`, the
  standard streams, the root logger, and its modules in `sys.modules`, including `__main__`. Unlike with proxy objects, C
  code and pickle find this state as well. To exchange the states of two ranks takes about a tenth of the time of a message
  in a ring (benchmarks/scripts.py).
* Private modules are those that are not installed, and installed packages that store objects of mpi4py. They are found,
  read and compiled once, and executed on each rank, which takes 0.1 ms per module. Import locks of private modules are
  per rank, so that a module may communicate while it is imported. Shared modules have one import lock, held by a task.
* A package is private if importing it executes a module that imports mpi4py or a private package, or if one of its
  functions imports mpi4py and changes its module. The imports of the program are scanned first, including those in
  functions, so that a package is private from the start. A package that was loaded before the run is hidden from ranks,
  which load copies.
* All other packages are shared, and so are packages with extension modules, which cannot be loaded twice. `--private` and
  `--share` override this. A shared module that binds `MPI.COMM_WORLD` gets a handle that resolves to the running rank's
  communicator. A shared module that queries its rank while it is imported is rejected.
* The standard library keeps some state per OS thread, and ranks on greenlets share a thread. The running event loop,
  values of `threading.local` and the debugger of a rank are removed while it waits (extensions/threads).
* `mpi4py.rc` has separate values on each rank, which apply when that rank imports `MPI`.
* At the end of the run, `Loop.unwind` restores the interpreter.

Shared by all ranks: open files, `threading.local` objects of installed packages on greenlets (unless the program uses one
itself), random generators bound before the run, loggers of packages, and the settings that a table in docs/run_a_script.md
lists as shared.
"""

from fakempi.isolation.program import Program

program = Program
"""The earlier name of `Program`."""

__all__ = ["Program", "program"]
