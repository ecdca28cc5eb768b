"""The time grows as the logarithm of the number of ranks."""

from fakempi.apps.course import Trial

COLORS = 3
COST = "hockney:t_s=10,t_w=1,eager_limit=0"


def color(rank: int) -> int:
    """Return the color of a rank: in no regular order, and one color is rare."""
    return 2 if rank % 10 == 5 else rank // 3 % 2


def check(trial: Trial) -> None:
    """Check the results, then the time on 16 and on 256 ranks."""
    trial.without("Split", "Create_group", why="compute the ranks with scans and reductions in this exercise.")

    def args(rank: int, size: int) -> list[object]:
        return [color(rank), COLORS]

    def gives(rank: int, size: int) -> tuple[int, int]:
        same = [other for other in range(size) if color(other) == color(rank)]
        return same.index(rank), len(same)

    trial.everywhere("place", args, gives)
    with trial.test("time on 16 and 256 ranks"):
        few, many = (trial.run("place", size, args, COST).time for size in (16, 256))
        if many > 2.5 * few:
            problem = f"On 16 ranks place takes {few:g} s, and on 256 ranks {many:g} s, {many / few:.1f} times as long"
            raise trial.wrong(f"{problem}: at most 2.5 times is allowed.", "time", "place", 16, args, COST)
