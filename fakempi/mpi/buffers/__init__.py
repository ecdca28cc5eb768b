"""Buffers: the way from what a program hands over to the payload of a message.

raw, phantom            the bytes behind a Python object; buffers without contents
memory, addresses       MPI.buffer, allocation, and where memory is
places                  BOTTOM, IN_PLACE, BUFFER_AUTOMATIC
span                    `[buffer, count, datatype]` and its shorter forms, as bytes and elements
payload                 what travels, and how one is copied to another
vectors, flat           one block a rank: as MPI describes them, and as algorithms want them
objects, pickling       Python objects as payloads, and MPI.pickle
"""
