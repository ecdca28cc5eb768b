"""Everybody ends with the combination of what the ranks up to it have, itself included."""
