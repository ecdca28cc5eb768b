"""Verification: run an algorithm on many cases, and compare its results and costs with its claims.

sweep               verify(): many cases, and the smallest counterexample of each kind
plan/               the cases and settings that are tried: large cases, values of parameters
jobs                runs them, in this process or on an executor
cases               cases within one group: sizes, roots, distributions
inter_cases         cases between two groups
choices             combinations of values of an algorithm's parameters
calls               CheckedCall: one rank's arguments and the expected contents of its buffers
intra_calls         the calls within one group, with the results that numpy computes
inter_calls         the calls between two groups
group_side          a case between two groups, as one rank sees it
reductions          the calls and expected results of reductions
reduction_ops       a commutative and a noncommutative op
sort_and_split      cases and expected results of sorts and splits, which return values instead of filling buffers
machine             Machine: the interface that a simulator or an MPI library provides
case_run            run one case once and collect the result of every rank
case_claims         the claims for one case, and whether they agree with each other
claim_checks        compare a run with the claims
bits                derive the properties of a call on which the bits of a reduction depend
bit_claims          compare these with the claim on the card
order_trees         the order of a reduction's operands, recorded in a run
fault               Fault: an error in one case; the settings of the runs
fault_search        all faults of an algorithm in one case
shrinking           find a smaller case with the same fault
counterexample      Counterexample: a fault, its case and the first round that differs, as text
first_difference    the first round in which a run differs from the schedule
"""
