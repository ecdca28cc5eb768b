"""Alltoallv between groups: every rank exchanges a block with every rank of the other group; block sizes may differ."""
