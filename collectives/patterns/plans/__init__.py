"""Allgathers given as plans: the blocks that each rank sends and receives in each round.

block_plans    runs a plan as an allgather, and in reverse as a reduce-scatter
array_plans    the messages of a plan by their sizes, for schedules of many ranks
plan_claims    claims of collectives that follow a plan
families       declares algorithms that follow a plan
shifted_plans  the plans of Sparbit, PAT and Trivance
negabinary     negabinary distances: the Bine tree, the peers of Swing
swing          the plan of Swing and Bine on a ring or torus
neighbors      the plan of neighbor exchange
k_ring         the plan of k-ring
multiplying    recursive multiplying
"""
