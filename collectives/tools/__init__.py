"""The modules that an algorithm's code calls: start here to write an algorithm.

protocol    the methods that an algorithm may call on its communicator and reduction operation
messages    send, receive and exchange blocks
blocks      layouts of blocks in a buffer, and scratch memory
numbers     exact logarithms and bit operations
plurals     numbers with nouns, for messages
nodes       ranks that share a node
subset      some ranks of a communicator as a communicator
local       check of the local group of an intercommunicator
costs       costs of sending that differ between ranks
text_files  read text files of other people
unbuffered  a communicator whose sends are all synchronous
"""
