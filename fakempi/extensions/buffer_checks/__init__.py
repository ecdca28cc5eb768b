"""Checks of memory that pending operations use: `run(check_buffers=True)`, strict runs, and tests.

checks   the checks of a run and of its processes: which memory is in use, overlaps, memory that changed too early
use      the memory that one operation uses until it completes
sends    only the buffers of sends, and not of all, so that plain runs can check them: `run(check_buffers="sends")`
timing   when data move in a run that follows a schedule: as early or as late as MPI allows

From the start of an operation until the program knows that it is complete, the program may not write to a send buffer, and
may not read or write a receive buffer. A copy of the memory is compared with it when the operation completes and, for a
receive, also just before the emulator writes the message there. If two operations use overlapping memory and one of them
writes, this is found when the second one starts.

These checks make a nonblocking message of 8 bytes take twice as long (in strict runs seven times), and each request needs
a copy of its memory. Strict runs also make arrays read-only (`locks`) and fill receive buffers with a pattern
(`MemoryRegion.poison`). Other runs do not, since a correct program could notice both.
"""
