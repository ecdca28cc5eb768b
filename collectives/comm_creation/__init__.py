"""Agreement on a new communicator: its context number, and the members of the other group.

MPI libraries identify communicators by a context number that is unused on all members. Every member proposes a number, and
all use the largest; with two groups, the larger of both. Each algorithm returns the number and, if there is one, information
about the other group.

create_group/        a communicator of some ranks
create_intercomm/    an intercommunicator of two groups, by their leaders
merge/               one communicator of the two groups of an intercommunicator
"""
