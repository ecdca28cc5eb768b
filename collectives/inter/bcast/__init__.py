"""Broadcast between groups: every rank of the other group receives the root's message."""
