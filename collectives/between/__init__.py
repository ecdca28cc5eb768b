"""Texts that several algorithms between two groups share; `*_claims` are the same on paper.

groups                          whose part is whose; schedules side by side
full_duplex                     Kang et al.'s allgathers
root_gathering, leaders         allgathers by rank 0 of each group
rooted, across, reduced_across  a root over there; a block for everybody there; reductions dealt out there
union                           both groups as one
"""
