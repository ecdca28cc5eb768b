"""Alltoall between groups: every rank exchanges a block with every rank of the other group; equal blocks per direction."""
