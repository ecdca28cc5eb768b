"""What everything else in `mpi` stands on.

constants                      MPI's named numbers
process, context, members      what a rank has of its own, what a communicator's handles share, who is in a group
current, complain              who is running; errors that say where they happened
identity, status, info,        small objects that programs hold: handles as integers, what a receive tells, hints,
errhandler, handling,          error handlers, and whose errors they handle;
attributes                     things hung on communicators and datatypes
foreign, callbacks             memory that is shown by DLPack or CUDA's interface; functions of the program's that fail
waiting, meeting, child        how a rank waits: for messages, for other ranks; work in its background
agreement                      whether all ranks make the same collective call
environment, region, threads   clock, node and version; names for parts of a run; threads that a rank starts
"""
