"""Threads that ranks start, and the objects that threads wait for: all are scheduled with the ranks, in modeled time.

changes             the changes of the standard library, when they are made, and their cost
program_scan        determines whether a program can use threads, locks, event loops or greenlets
rank_threads        a rank's thread is an OS thread and a task of the loop, on either backend
mixed_backend       greenlets that wait for OS threads
starting            starting and ending a thread in a rank
ending              the end of a rank that has threads
pool_threads        threads of process pools, which stay ordinary OS threads
idle_daemons        daemons that never end
forked              processes that ranks have forked, and a call of `Abort` in them
waiting             the holders of locks, and the tasks that wait for them
locks               the replaced methods of Python's locks
queues              the replaced methods of Python's simple queue
conditions          the replaced methods of conditions
granting            chooses the task that gets a lock, in runs of the model checker
types               exchanges methods of types, also compiled ones, so that existing locks work, too
pools               clock, log and end of thread pools
module_locks        locks of modules that are being imported, held by tasks
thread_state        state that Python keeps by OS thread, and that ranks on greenlets would share
state_switching     removes such state while a rank waits
measuring           determines whether coverage.py needs ranks on threads
raw                 Python's own locks, threads and clock
current             the calling task
program_greenlets   detects that a rank switches to a greenlet that it has created
unmanaged           threads that no rank has started, and greenlets of the program, which may not call MPI

Conditions, events, semaphores, barriers, queues and futures are written in Python and use locks.
"""
