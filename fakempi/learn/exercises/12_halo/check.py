"""Every rank has its neighbours' numbers."""

from fakempi.learn import RANKS, Trial


def check(trial: Trial) -> None:
    """Grids of one row, of one column, and proper ones."""
    trial.without("allgather", "Allgather", why="here neighbours exchange, and nobody else.")
    shapes = {1: (1, 1), 2: (2, 1), 3: (1, 3), 7: (7, 1), 64: (4, 16)}
    for size, (rows, columns) in [*((size, shapes[size]) for size in RANKS), (12, (3, 4))]:

        def gives(rank: int, size: int, rows: int = rows, columns: int = columns) -> list[int]:
            row, column = divmod(rank, columns)
            up = rank - columns if row > 0 else None
            down = rank + columns if row < rows - 1 else None
            left, right = (row * columns + (column + step) % columns for step in (-1, 1))
            return [-1 if one is None else 10 * one for one in (up, down, left, right)]

        trial.everywhere("halo", lambda rank, size, r=rows, c=columns: [r, c, 10 * rank], gives, [size])
