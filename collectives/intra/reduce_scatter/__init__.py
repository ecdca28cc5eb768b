"""Reduce_scatter: every rank receives its block of the result; block sizes may differ."""
