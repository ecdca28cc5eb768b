"""What the makers of communicators tell each other before there is one: a number for it, and who is in the other group.

MPI libraries tell communicators apart by a number, which all members must find free. Each proposes one, and they take the
largest; between two groups, the larger of the groups'. Each file returns what a process then knows.
"""
