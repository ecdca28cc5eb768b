"""Run a schedule: its algorithm, and the exact claims of this algorithm.

execution       the algorithm of a schedule
executor        the steps of one rank on a communicator
units           the same for ranks with several cpus or nics
fitting         the calls that a schedule fits
whole_blocks    the buffers of an alltoallw
claims          exact claims of the algorithm of a schedule
rounds          rounds of transfers, where they are exact
"""
