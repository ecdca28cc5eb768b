"""Barrier between groups: no rank leaves before all ranks of the other group have arrived."""
