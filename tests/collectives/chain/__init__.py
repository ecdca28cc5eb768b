"""Tests of chains and of what is built on them."""
