"""Threads that ranks start, and what threads wait for: all of it takes turns with the ranks, in modelled time.

* `guests`: a rank's thread is an OS thread, and a task of the loop like any other, whatever carries the ranks.
* `starting`: what starting and ending a thread means in a rank; `ending` what becomes of those that outlive it.
* `outside`: threads of Python's own that wait for other processes, and stay real ones.
* `idling`: daemons that go on for ever.
* `waiting`: who waits for a lock, who holds it, and since where in the program.
* `locks`, `queues`: what the methods of Python's locks and of its simple queue do in a rank.
* `granting`: who gets a lock, in runs whose choices are made by somebody.
* `types`: puts those methods into the built-in types while runs go on, so that locks which were made before serve, too.
* `conditions`, `pools`: what some of Python's own classes have kept of a lock, or take for granted of a thread.
* `raw`: locks and threads as they are outside of runs.
* `foreign`, `own_greenlets`: threads that no rank has started, and greenlets, which may not call MPI.

Conditions, events, semaphores, barriers, queues and futures are made of locks, in Python, and need nothing of their own.
"""
