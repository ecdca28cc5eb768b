"""Allgatherv between groups: every rank receives the other group's blocks, in rank order; block sizes may differ."""
