"""Reduce_scatter between groups: every rank receives its block of the other group's result; block sizes may differ."""
