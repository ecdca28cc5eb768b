"""Everybody ends with what each had for it, every block a buffer of its own size and type."""
