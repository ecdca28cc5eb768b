"""What the text of an algorithm calls: start here to write one.

protocol    what it may ask of the communicator and the operation that it is handed
messages    send, receive and exchange blocks
blocks      how a buffer is cut into blocks, and where scratch memory comes from
numbers     logarithms and bits, exact
nodes       ranks that share a node
unbuffered  a communicator on which every send waits for its receive
"""
