"""Sessions: named sets of processes, groups created from these sets, and communicators created from the groups.

session    the handle, its sets and its error handler
"""
