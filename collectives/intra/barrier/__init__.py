"""Barrier: no rank leaves before all ranks have arrived."""
