"""Envelopes between numbered mailboxes: matching, ports, and the times of transfers.

envelope    a message in transit, and the receive of a posted receive
matching    a mailbox: receives and envelopes that have not been matched
ports       ports and links: one transfer at a time; the message that has waited longest is the next
flight      the times of a message with latency
transfers   how an envelope that is ready takes its ports
delivery    the path of an envelope: sent, matched, transferred, arrived
express     the same in one step for the common case
files       the file server of a cost model
cost        the interface of cost models
parameters  checks, repr and equality of objects by their parameters
models/     one cost model per file
guard       checks the values that a user-defined cost model returns
"""
