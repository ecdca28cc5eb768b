"""Failures of processes, and their detection by other processes: User Level Failure Mitigation (ULFM).

kill          a process dies; after the detection delay, pending operations with it end with an error
fault_state   the faults of a communicator: members that have died, and revocation
failure       the content of a message that cannot be delivered
parking       tasks that no longer run
agreement     survivors agree on a flag, or on a smaller communicator
state         the failures of a run
"""
