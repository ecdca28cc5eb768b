"""The root ends with the combination of what all have."""
