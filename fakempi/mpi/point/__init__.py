"""Point-to-point communication.

handle         the state of a communicator handle; post a send or a receive
owners         the part of a communicator that a request uses
buffers        Send, Recv and similar calls
objects        send, recv and similar calls
arrival        where the payload of a message goes when it is matched
mismatch       messages that are received as another datatype
races          wildcard receives that could have matched another message
rank_numbers   reports -1 that a program has computed as a rank
request        requests
request_lists  lists of requests: Waitany, Testall and similar calls
lower_case     lower-case names of calls that pass no object
persistent     persistent requests
buffered       Bsend and attached buffers
probes         probes and matched messages
grequest       generalized requests
"""
