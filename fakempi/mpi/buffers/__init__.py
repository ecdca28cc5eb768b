"""From a program's buffer to the payload of a message, in five steps; a module imports only modules above it.

address_constants  BOTTOM, IN_PLACE, BUFFER_AUTOMATIC
phantom            buffers with a size and no contents
typing             types of buffer specifications, as in mpi4py
specification      step 1: split `[buffer, count, datatype]` and its shorter forms
raw                step 2: the memory of a Python object, and the type of its elements
resolve            step 3: the datatype; calls steps 1 and 2
span               step 4: the number of elements, and the first of them
overlap            memory that is used twice in one call
out_of_band        a pickle in parts, with large buffers
payload            step 5: the payload, and copies from one to another
vectors            one block per rank, as MPI describes them
flat               one block per rank, as one array for the algorithms
regions            regions of memory that pending operations use
locks              arrays that are read-only while an operation uses them
memory             MPI.buffer and allocation
addresses          addresses of memory
buffer_protocol    the buffer protocol of objects before Python 3.12
pickling           MPI.pickle
objects            payloads of Python objects
"""
