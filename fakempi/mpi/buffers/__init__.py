"""Buffers: the way from what a program hands over to the payload of a message. A file imports only those above it.

places, phantom         BOTTOM, IN_PLACE, BUFFER_AUTOMATIC; buffers without contents
specification           step 1: `[buffer, count, datatype]` and its shorter forms, in parts
raw                     step 2: the memory behind a Python object, and what it calls its elements
element                 step 3: the datatype of those
span                    step 4: how many of them, and from where on
overlap                 memory that is used twice in one call
parts                   a pickle, and large memory beside it
payload                 step 5: what travels, and how one is copied to another
vectors, flat           one block a rank: as MPI describes them, and as algorithms want them
regions, locks, pins    memory that operations under way use: how regions lie, read-only arrays, what was kept of it
memory, addresses       MPI.buffer, allocation, and where memory is
pickling, objects       MPI.pickle, and Python objects as payloads
"""
