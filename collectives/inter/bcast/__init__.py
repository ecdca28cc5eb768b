"""Broadcast between two groups."""
