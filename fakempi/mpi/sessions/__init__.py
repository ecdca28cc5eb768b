"""Sessions: sets of processes by name, from which groups are made, and of groups communicators, without COMM_WORLD.

session    the handle, its sets and its error handler
"""
