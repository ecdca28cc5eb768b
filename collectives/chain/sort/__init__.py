"""Sorts on a chain: everybody gives an item, and rank r gets the r-th."""
