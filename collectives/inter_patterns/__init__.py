"""Code that several algorithms between two groups share, with its schedules and claims.

groups                 roles of the two groups, and schedules of parts that groups run
families               declares algorithms that differ only in the code that they call
union                  both groups as one communicator
posted                 schedules on communicators that are composed of others or unbuffered
joined                 the root and the other group as one communicator
rooted                 direct messages between the root and each rank of the other group
rooted_claims          claims of rooted operations
sized_trees            claims of gatherv and scatterv by a binomial tree
full_duplex            the runs of ranks in Kang et al.'s allgathers
full_duplex_claims     claims of these allgathers
even_cut               exchange of equal pieces of each group's data
root_gathering         allgathers through rank 0 of each group
root_gathering_claims  claims of root gathering
leaders                allgathers in which all ranks send to the other group's leader
alltoall               exchanges between all ranks of the two groups
leaders_exchange       reduce in both groups, then the leaders exchange
reduce_in_turn         reduce in one group after the other, with a message to the other group's leader
leader_reduce          all ranks send operands to the other group's leader, which combines them
leader_scatter         reduce in both groups, then each leader scatters to the other group
reduce_in_pieces       reduce-scatter of a group in nearly equal pieces
reduce_and_deliver     reduce in pieces, which are sent directly to their owners
one_leader             one leader communicates with the whole larger group
chain_and_star         a reduction along a chain and a scatter from the root at the same time
multi_partite          allgatherv among three or more groups
"""
