"""COMM_WORLD outside a run: a singleton, which is one process on its own.

universe   a universe of one process, whose program is the calling code; created at the first call that needs it
loop       its loop, which has no other task to switch to: a wait that cannot end is reported as a deadlock at once
"""
