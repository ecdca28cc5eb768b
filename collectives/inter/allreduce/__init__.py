"""Allreduce between groups: every rank receives the result of reducing the other group's operands."""
