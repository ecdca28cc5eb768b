"""Exchanges with the rank whose number differs in one bit, nearest ranks first, so that operands are combined in rank order.

butterfly        reduce-scatter of vectors that are halved in every round
doubling         allgather and reduce-scatter by recursive doubling, for any p
doubling_rounds  the plan of this allgather, with the messages of all ranks in arrays
"""
