"""Collectives between two groups: everybody gets what the other group has."""
