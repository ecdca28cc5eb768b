"""The code that runs in the process of a rank. It imports the standard library and few modules of fakempi, to start quickly.

bootstrap    the file that a child executes
template    imports the modules of children, and forks the children
main    prepares the interpreter, executes the program, reports its end
channel    the connection to the parent: calls
files    file descriptors of a child
callbacks    functions of the child that the parent calls meanwhile
ending    the end of the program: calls of its threads, and the processes that it has started
signals    signal handlers of the program are called after the present call
sites    numbers of the lines that make calls
compact    messages of most calls, marshaled
segments    memory that large arrays are copied to, shared with the parent
encoding    pickled values, and placeholders of objects that stay in one process
memory    memory that calls use
shared    shared memory of windows
package    the modules `mpi4py` and `mpi4py.MPI`
names    public names of fakempi, such as `region`
process    the rank, for modules of fakempi that expect an emulator
threads    determines the main thread, and whether it waits
patches    changes of modules that the program imports
failures    descriptions of exceptions
"""
