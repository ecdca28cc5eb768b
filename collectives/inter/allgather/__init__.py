"""Allgather between groups: every rank receives the other group's blocks, in rank order; equal blocks within a group."""
