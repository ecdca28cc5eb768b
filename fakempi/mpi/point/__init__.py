"""Point-to-point communication.

handle               what every communicator is made of: post a message, await one
buffers, objects     Send, Recv and kin; send, recv and kin
arrival              where a message's content goes when it is matched
request, many        operations that have been started: one, and many at once (`lower_case`: what mpi4py has twice)
persistent, buffered described once and started often; Bsend and the memory it takes
probes, grequest     looking before receiving; operations that a program completes itself
"""
