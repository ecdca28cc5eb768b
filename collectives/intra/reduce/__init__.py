"""Reduce: the root receives the result of reducing the operands of all ranks."""
