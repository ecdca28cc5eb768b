"""One-sided communication: memory that others may read and write while its owner does something else.

win, making          the handle; Create, Allocate, Allocate_shared, Create_dynamic, Free
accesses, requests   Put, Get, Accumulate and kin; the same with a request
epochs               Fence, Start, Complete, Post, Wait, Lock, Unlock, Flush: what the program says
properties           a window's name, info, error handler, attributes, memory and group
window               what all ranks share of a window, and what one rank has of it
permits, locks       what lets operations go to a target: a lock there, or its Post
lane, operations     the way from one rank to another, and what travels on it and does something at its end
places               which bytes of a target are meant
express              Puts that need none of this
races, stores        accesses of one epoch that clash; what a rank writes to its own memory beside them
"""
