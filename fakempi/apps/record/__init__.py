"""`mpiexec -n 8 python -m fakempi.record work.py`: records the MPI calls of a program on a real MPI, one file per rank.

`fakempi replay` reads the files (fakempi/recordings/formats/recorded.py). The ranks import the standard library and mpi4py
only. The classes of mpi4py are compiled, so their methods are replaced in the dictionaries of the types: objects that
compiled code creates are recorded, too, and programs see the same types as without the recorder.

running         the command: start a recording, run the program, end the recording
log             one file: lines, call sites, times; what is written when
communicators   numbers of communicators, and a description of each that all of its members agree on
requests        numbers of requests
sizes           sizes of buffers in bytes, as mpi4py takes them
pickles         sizes of pickled objects
wrapping        replaces methods of compiled types
rank_recording  RankRecording: the parts of a recording that all wrappers share
point           wrappers of sends and receives
completion      wrappers of calls that complete, start or free requests, and of probes
collective      wrappers of collective calls on data
others          wrappers of the other calls

A file has lines of words. The first line has the version, the second one facts about the rank in JSON; then there are:

    site 3 work.py:12                     call site 3
    comm 2 0 1 0-6:2                      communicator 2: parent 0, second one created there, world ranks 0, 2, 4, 6
    send 8100 950 3 S 0 5 7 80 -          computing time before the call and its duration in ns, call site, mode,
                                          communicator, destination, tag, bytes, request (or -)
    recv 120 95000 3 0 1 7 80 4           ..., communicator, source, tag, bytes, request; source and tag `*`: unknown as yet
    sendrecv 0 900 3 0 5 7 80 1 7 80      ..., communicator, destination, tag, bytes, source, tag, bytes
    wait 50 1200 3 4:1:7 5                ..., completed requests; receives have the source and the tag of their message
    coll 0 4000 3 allreduce 0 0 80 8 c - -   ..., operation, communicator, root, bytes, bytes of an element, commutative (c)
                                          or not (n), counts in bytes, request
    skip 10 300 3                         time in a call that has no effect in a replay: a probe, a test that found nothing
    other 10 300 3 Win.Fence              time in a call that a replay cannot execute
    end 1000 completed                    computing time after the last call, and how the program ended

Computing time is the time between two calls without that of the recorder. Numbers of communicators, sites and requests are
of one rank; 0 is the world and 1 is COMM_SELF. A file without an `end` is complete up to the last flush.
"""
