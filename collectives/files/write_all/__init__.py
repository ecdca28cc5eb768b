"""Write_all: every rank writes runs of bytes."""
