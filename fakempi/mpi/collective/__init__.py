"""Collective calls.

calls        what all of them do: check, agree, choose an algorithm, have it carried out
again        the same call again: what was found out the first time
plans        each call described: its buffers, what ranks must agree on, the algorithm's arguments
blocking, nonblocking, persistent   the three ways to carry a plan out
objects      the same for Python objects
parcels      objects in arrays, so that algorithms for arrays combine them
scans        prefix reductions, in every way to call them
"""
