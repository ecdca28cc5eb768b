"""Tests of accesses of all ranks to a file."""
