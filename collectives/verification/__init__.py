"""Does an algorithm do what it claims? Its results, and its claims, held against runs on a machine that is handed in.

sweep           verify: many cases, the smallest counterexample of each kind
cases           which cases: sizes, roots, distributions; `choices` has values for parameters
one_group       one rank's call within a group, and what numpy says must come out; `reductions` has theirs
two_groups      the same between two groups
chains          sorts and splits, which return in place of filling buffers
machine         what is asked of a machine; fakempi has one
trial           one case, run once: what every rank found
paper           what is claimed of a case, and whether the claims agree with each other
faults          the two held against each other
shrinking       the same fault in a smaller case
counterexample  what is told of it; `picture` draws the round where paper and run part
"""
