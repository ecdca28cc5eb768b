"""Scatterv: every rank receives its block of the root's buffer; block sizes may differ."""
