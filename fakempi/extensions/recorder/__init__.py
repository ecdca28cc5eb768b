"""Records the MPI calls of a program as lines of text, for `fakempi replay`. The package imports the standard library only.

`python -m fakempi.record` (fakempi/apps/record) records a program on a real MPI, and a traced run with `cpu_scale`
(fakempi/extensions/call_recording) one on the emulator. Both wrap public calls with the same functions. The reader is
fakempi/recordings/formats/recorded.py.

lines           the lines of a rank: times, call sites, polling loops
table           all recorded calls by class and name
wrapper         makes the wrapper of a call: what every call does before and after
messages        sends and receives
completion      calls that complete, start or free requests, and probes
collective      collective calls on data
others          calls that create or free communicators, calls that a replay cannot execute, and Abort
communicators   numbers of communicators, and a description of each that all of its members agree on
requests        numbers of requests
sizes           sizes of buffers in bytes, as mpi4py takes them
rank_recording  RankRecording: the parts of a recording that all wrappers share

The lines of a rank have words:

    site 3 work.py:12                     call site 3
    comm 2 0 1 0-6:2                      communicator 2: parent 0, second one created there, world ranks 0, 2, 4, 6
    send 8100 950 3 S 0 5 7 80 -          computing time before the call and its duration, call site, mode,
                                          communicator, destination, tag, bytes, request (or -)
    recv 120 95000 3 0 1 7 80 4           ..., communicator, source, tag, bytes, request; source and tag `*`: unknown as yet
    sendrecv 0 900 3 0 5 7 80 1 7 80      ..., communicator, destination, tag, bytes, source, tag, bytes
    wait 50 1200 3 4:1:7 5                ..., completed requests; receives have the source and the tag of their message
    coll 0 4000 3 allreduce 0 0 80 8 c - -   ..., operation, communicator, root, bytes, bytes of an element, commutative (c)
                                          or not (n), counts in bytes, request
    skip 10 300 3                         time in a call that has no effect in a replay: a probe, a test that found nothing
    other 10 300 3 Win.Fence              time in a call that a replay cannot execute
    thread 12 Send                        the number of such calls by other threads, which are not recorded
    end 1000 completed                    computing time after the last call, and how the program ended

Computing time is the time between two calls without that of the recorder. Times are nanoseconds on a real MPI, and modeled
seconds on the emulator. Numbers of communicators, sites and requests are of one rank; 0 is the world and 1 is COMM_SELF.
"""
