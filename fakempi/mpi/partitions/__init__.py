"""Partitioned communication: a message whose parts travel as they become ready.

calls      Psend_init and Precv_init, of any communicator
channel    what a send and a receive share, and each one's own half
"""
