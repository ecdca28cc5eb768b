"""Sorts on a chain: every process passes an item, and rank r gets the r-th smallest."""
