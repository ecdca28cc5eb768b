"""Broadcast: every rank receives the root's message."""
