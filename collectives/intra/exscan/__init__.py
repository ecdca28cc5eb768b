"""Exclusive scan: rank r > 0 receives the result of reducing the operands of ranks 0 .. r-1."""
