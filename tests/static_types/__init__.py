"""Static types: the comparison with mpi4py's stubs, and programs that users would check with mypy or pyright."""
