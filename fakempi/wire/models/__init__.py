"""Cost models, one a file."""
