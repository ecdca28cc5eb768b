"""Runs an unmodified mpi4py script or module on every rank, each in an operating-system process.

    >>> from fakempi import run
    >>> from fakempi.processes.program import ProcessProgram
    >>> run(ProcessProgram(["work.py", "a", "b"]), 4)                  # doctest: +SKIP

requests    environment variables that request processes
program    a command that every rank executes in a child process
server    a rank's task in the parent: serves a child from its start to its end
answers    makes the calls of a child on the emulator, and calls its functions
departures    ranks whose process ends while one of its threads waits in a call
child_process    the operating-system process of a rank: start, messages, output, end
generate    source code of the proxy module, from the emulator's classes by introspection
template    the interpreter that children are forked from
objects    encoding of the parent's messages
compact    the same for most calls, marshaled
mirrors    memory of children in the parent
pending_memory    memory that calls and pending operations use: what has changed
shared_memory    memory of windows that the parent and all children share
sites    lines of children's programs: frames for calls, tracebacks for exceptions
open_files    the limit of open files
relay    output of children in whole lines
protocol    constants of the messages between parent and child
child/    modules that run in a child

How it works:

* The emulator is in the parent, unchanged, with one task for each rank. Such a task reads the next call of its child, makes
  that call, and sends the result back. The child is a fresh interpreter, on Linux forked from one that has run no program.
  Its `mpi4py.MPI` consists of proxies.
* One rank runs at a time. A task that waits for its child blocks the parent, so modeled time does not depend on real time,
  and the same calls are made in the same order as without processes. A child runs at the same time as others only before
  its first call.
* The parent makes a call from a frame with the file and the line of the child's call, so reports and traces show them.
* Memory in arguments is copied to the parent. Changes are written back when a call returns, and for requests, windows and
  split file accesses when a later call on them returns. Windows that MPI allocates are in shared memory.
* Objects are pickled in the child, once, and the parent passes the bytes on. Operations on objects, user-defined
  operations and other callbacks are executed by the child, which waits for the result of a call meanwhile.
* Children import this package too, so it imports nothing itself.
* A child that ends without an announcement was killed, has crashed, or has called `os._exit`. Children end with the parent.
"""
