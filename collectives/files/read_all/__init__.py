"""Read_all: every rank reads runs of bytes."""
