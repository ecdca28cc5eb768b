"""Everybody ends with the root's message."""
