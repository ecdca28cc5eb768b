"""Partitioned communication: a message whose partitions are sent as they become ready.

calls      Psend_init and Precv_init
channel    the state that a send and a receive share, and that of each
"""
