"""Allreduce: every rank receives the result of reducing the operands of all ranks."""
