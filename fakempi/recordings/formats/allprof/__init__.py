"""Reader of the text traces of liballprof, the tracer of LogGOPSim for C and Fortran programs: one file per rank.

A line is `NAME:start:arguments:end`, with times in µs. A datatype is `number,size,extent`, a communicator is
`handle,rank,size`, counts are an address and then the counts, separated by commas. Requests are addresses of variables:
those of an array are 4 or 8 bytes apart. Source: gencode.py of liballprof (github.com/spcl/LogGOPSim), which generates
the tracer.

Three facts are not in the traces. Members of communicators: see `handles`. The source of a message that a receive from
any source received: the replay leaves it open. The requests that Waitany, Waitsome or a test completed: the oldest one is
assumed for Waitany and Waitsome, and tests are ignored.

reading   recognizes traces, and reads them
lines     the fields of lines
handles   the members of communicators
rank      the events of one rank
sizes     the sizes of collective calls
"""
