"""Reduce between groups: the root receives the result of reducing the other group's operands."""
