"""`-m` with a package whose modules import each other."""
