"""The foundation of all other parts of `mpi`.

constants          MPI's named numbers
process            Universe: the state of a run; Process: the state of one rank
context            the state that all handles of a communicator share
members            the immutable list of processes in a group
current            the running process, as seen from an OS thread
mpi_errors         MPI errors with the call, the rank and the line
call_site          the call and the line of the program that led here
frames             Python frames of OS threads
identity           handles as integers, and the tables of numbered objects of a run
status             Status
info               Info
errhandler         error handlers, and user-defined error classes and codes
errhandler_calls   the error-handler calls of communicators, windows, files and sessions
attributes         names and attributes of communicators, windows and datatypes
resource_tracker   objects that a process has to free
freed_requests     requests that are freed before their operation completes
array_protocols    memory of DLPack and CUDA array interface objects
waiting            a rank waits for one operation or for several
rendezvous         ranks agree without messages, for example on a new communicator
child              background tasks of a rank, such as nonblocking collectives
call_matching      checks that all ranks make the same collective call
unbuffered         unsafe sends: deadlocks that occur only without buffering
environment        clock, node and version; Init and Finalize
region             named parts of a run, for its trace
"""
