"""Time that grows as the logarithm of the number of ranks."""

from fakempi.learn import Trial

COLORS = 3
COST = "hockney:t_s=10,t_w=1,eager_limit=0"


def color(rank: int) -> int:
    """In no obvious order, and one of them is rare."""
    return 2 if rank % 10 == 5 else rank // 3 % 2


def check(trial: Trial) -> None:
    """Results, then the time on 16 and on 256 ranks."""
    trial.without("Split", "Create_group", why="here the places are found by hand.")

    def args(rank: int, size: int) -> list[object]:
        return [color(rank), COLORS]

    def gives(rank: int, size: int) -> tuple[int, int]:
        same = [one for one in range(size) if color(one) == color(rank)]
        return same.index(rank), len(same)

    trial.everywhere("place", args, gives)
    few, many = (trial.run("place", size, args, COST).time for size in (16, 256))
    if many > 2.5 * few:
        words = f"On 16 ranks place takes {few:g} s, and on 256 ranks {many:g} s, {many / few:.1f} times as long."
        raise trial.wrong(words, "time", "place", 16, args, COST)
