"""What a rank's program touches: communicators, requests, groups, datatypes, and all else that mpi4py has.

process, context, members   what a rank has of its own, what a communicator's handles share, who is in a group
comm_state, point, ...      a communicator handle, one file for each thing it can do; comm puts them together
request, waiting, meeting   how a rank waits: for messages, and for other ranks
datatype, buffers, objects  what a message is made of, and where it goes: span, layout, phantom, pickling, arrival
complain, stuck             errors that say where they happened, and why a rank does not go on
"""
