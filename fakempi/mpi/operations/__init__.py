"""Operations of reductions.

op          the class that programs hold, and MPI's own: SUM, MAX, MAXLOC ...
functions   what these do to two objects and to two arrays
operands    two buffers to be combined, from what a program hands over
bound       an operation bound to a datatype, as algorithms call it
"""
