"""Inclusive scan: rank r receives the result of reducing the operands of ranks 0 .. r."""
