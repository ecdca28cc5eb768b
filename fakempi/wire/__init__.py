"""Envelopes between numbered mailboxes: who fits whom, which ports are free, and when a transfer ends.

envelope    a message on its way, and the pattern of a message that somebody waits for
matching    a mailbox: patterns and envelopes that have not met
ports       one transfer at a time, first come, first served
delivery    the way of an envelope: ready, out-port, in-port, there
cost        what a cost model is; models/ holds one a file
"""
