"""Reduction operations.

op          the class Op, and the predefined operations: SUM, MAX, MAXLOC ...
functions   the predefined operations on two objects and on two arrays
operands    the two buffers of Reduce_local, and calls of user-defined functions
bound       an operation bound to a datatype, as algorithms of collectives call it
"""
