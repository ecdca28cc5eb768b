"""Reader of DUMPI's binary traces (sst-dumpi, from the SST suite), which traces of the DOE mini-applications have.

A trace is a file `PREFIX.meta` and a file `PREFIX-0000.bin` for each rank. The latter has the calls, a header with the
version, the sizes of datatypes, and at its end the offsets of these parts. Numbers are big-endian. A record is a
function, a mask, times and the arguments. Communicators, groups and requests have numbers, so members can be computed
from the calls that create them. Source: dumpi/common (io.c, iodefs.h, dumpiio.c, funclabels.h) of
github.com/sstsimulator/sst-dumpi.

reading        recognizes traces, and reads them
layouts        the functions and their fields
records        the file of a rank: its parts, and its records one by one
communicators  groups, and the members of communicators
rank           the events of one rank
sizes          the sizes of collective calls
"""
