"""Processes that die, and what the others learn of it (User Level Failure Mitigation, ULFM).

death      how a process dies; when the others learn of it, what they were waiting for ends with an error
trouble    what is wrong with a communicator: who of it has died, and whether it was revoked
failure    what an operation ends with that cannot be done
parking    tasks that are left where they stand
accord     what the living agree on: a flag, or a smaller communicator
"""
