"""Parallel I/O on real files of the machine.

file           File: open and close, size, views, pointers
accesses       the calls that read and write: at an offset or a pointer; independent or collective
transfers      the common implementation of these calls
handle         the state of a File handle, and its error reporting
shared_file    the state that all ranks of an open file share, and the state of one rank
state          the open files of a run
views          the bytes of the file that a rank sees, and their order
hints          info hints for collective accesses
races          detection of unsynchronized accesses to the same bytes
storage        reads and writes of runs of bytes in a file of the operating system

Data are in the file when a call returns, and every later read finds them. One rank runs at a time, so accesses are atomic
even without Set_atomicity.

Cost in modeled time: without a file server in the cost model (`FileServer`, `files=` of a cost model;
core/network/files.py), accesses take no time. With one, an access of n bytes in k runs arrives at the server when it is
called, and occupies the server port that is free first for k t_s + n t_w; accesses are served in order of arrival
(`Queue.serve`). No rank's port is used, and an access of no bytes takes no time. A blocking call returns at the end of the
access, and a request completes then.

A collective read begins when the last rank has called, and so does a collective write in the order of ranks
(Write_ordered). Any other collective write begins when its rank calls, and returns when all ranks have called. The shared
pointer moves without cost. If an algorithm is requested (`algorithms={"write_all": "two_phase"}`, or by the program's
info), it begins when all ranks have called, on the collective context of the file's communicator, and accesses the file as
plain bytes (`PlainBytes`): then only aggregators access the server, with one run in each access.
"""
