"""Algorithms between two groups: every rank receives data of the other group; one subpackage per operation."""
