"""Exact logarithms and bit operations on integers of any size."""

from __future__ import annotations


def ceil_log2(n: int) -> int:
    """Smallest d with 2**d >= n: the number of doubling rounds that reach n processes.

    >>> [ceil_log2(n) for n in (1, 2, 3, 4, 5, 8, 9)]
    [0, 1, 2, 2, 3, 3, 4]
    """
    return (n - 1).bit_length()


def floor_log2(n: int) -> int:
    """Largest d with 2**d <= n.

    >>> [floor_log2(n) for n in (1, 2, 3, 4, 5, 8, 9)]
    [0, 1, 1, 2, 2, 3, 3]
    """
    return n.bit_length() - 1


def ceil_div(n: int, k: int) -> int:
    """Number of pieces of at most k that n elements need.

    >>> ceil_div(7, 3), ceil_div(6, 3), ceil_div(0, 3)
    (3, 2, 0)
    """
    return -(-n // k)


def lowest_bit(n: int) -> int:
    """Value of the lowest set bit of n > 0.

    >>> [lowest_bit(n) for n in (1, 2, 3, 4, 6)]
    [1, 2, 1, 4, 2]
    """
    return n & -n


def is_power_of_two(n: int) -> bool:
    """Whether n is a power of two.

    >>> [n for n in range(20) if is_power_of_two(n)]
    [1, 2, 4, 8, 16]
    """
    return n > 0 and n & (n - 1) == 0
