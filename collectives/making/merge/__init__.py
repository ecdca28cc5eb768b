"""Agreeing on one communicator of two groups."""
