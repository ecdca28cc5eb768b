"""Schedules as data."""
