"""Agreeing on a communicator of some ranks."""
