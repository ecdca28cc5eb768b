"""Every rank has its neighbors' numbers."""

from fakempi.apps.course import Trial


def check(trial: Trial) -> None:
    """Check grids of one row, of one column, and of several of both."""
    trial.without("allgather", "Allgather", why="exchange data between neighbors only in this exercise.")
    shapes = {1: (1, 1), 2: (2, 1), 3: (1, 3), 7: (7, 1), 12: (3, 4), 64: (4, 16)}

    def gives(rank: int, size: int) -> list[int]:
        rows, columns = shapes[size]
        row, column = divmod(rank, columns)
        up = rank - columns if row > 0 else None
        down = rank + columns if row < rows - 1 else None
        left, right = (row * columns + (column + step) % columns for step in (-1, 1))
        return [-1 if neighbor is None else 10 * neighbor for neighbor in (up, down, left, right)]

    trial.everywhere("halo", lambda rank, size: [*shapes[size], 10 * rank], gives, tuple(shapes))
