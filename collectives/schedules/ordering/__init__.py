"""Which steps of a schedule are ordered, and which unordered steps access the same bytes.

causality        whether steps are ordered, by dependencies of their rank and by messages
chains           vector clocks of the steps of one rank
backward_search  whether steps are ordered, without vector clocks
races            unordered steps that access the same bytes
last_accesses    a fast proof that there are none
"""
