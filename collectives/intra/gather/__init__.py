"""The root ends with the blocks of all, in rank order; blocks of equal size."""
