"""Cost models, one per file."""
