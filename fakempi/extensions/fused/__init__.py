"""Fused collectives: calls are simulated from the schedules of their algorithms, without running the algorithms' code.

programs         the schedule of a call: arrays by round, and a list of steps for each rank
array_clocks     the times of all ranks, computed in arrays
step_simulator   event simulation of the steps of a rank, on a network
reductions       the order in which a schedule combines operands, and the result
results          the data of a call
object_values    reductions of Python numbers: which values a schedule combines, and the sizes of messages
pending_call     one call: the ranks that wait for it, and their data
rendezvous       ranks wait until all have called, or are simulated one by one
undoing          the agenda at the time of the first call, and the subscriber that restores it if a rank communicates
"""
