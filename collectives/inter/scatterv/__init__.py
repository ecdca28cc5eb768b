"""Scatterv between groups: every rank of the other group receives its block of the root's buffer; block sizes may differ."""
