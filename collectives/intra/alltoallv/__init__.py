"""Everybody ends with what each had for it, in blocks of their own sizes."""
