"""Cases, arguments and timing for measuring algorithms, on the emulator or on a real machine.

cases       make a case from a number of ranks and bytes, or from a list of counts
counts      read lists of counts from a file
calls       make the arguments of one rank's call
timing      measure a call: barrier, repeat, maximum over the ranks, median
parsing     parse sizes and group sizes as typed on a command line
"""
