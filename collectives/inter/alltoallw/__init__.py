"""Alltoallw between groups: every rank exchanges a buffer with every rank of the other group, each with its own datatype."""
