"""The numbers of ranks of `-n`, and options that are for one number or for several."""

from __future__ import annotations

import re
from argparse import Namespace

from fakempi.core import options as parse
from fakempi.core.rank_numbers import numbers


def numbers_of(options: Namespace) -> list[int]:
    """Return the numbers of ranks of `-n` from `--min-ranks` on."""
    found = [number for number in numbers(options.ranks) if number >= options.min_ranks]
    if not found:
        raise parse.usage_error(f"-n {options.ranks}: no number of ranks is at least {options.min_ranks} (--min-ranks).")
    return found


def check_single(options: Namespace) -> None:
    """Reject what a single number cannot mean: a range with a dash, and options for several numbers."""
    if match := re.fullmatch(r"\s*([0-9]+)\s*-\s*([0-9]+)\s*", options.ranks):
        raise parse.usage_error(f"-n {options.ranks}: a range is written with two dots: -n {match[1]}..{match[2]}.")
    if options.all_numbers:
        raise parse.usage_error(f"--all has no effect with -n {options.ranks}: use several numbers, such as -n 1..16.")
    if options.min_ranks > 1 and parse.count(options.ranks) < options.min_ranks:
        raise parse.usage_error(f"-n {options.ranks}: --min-ranks {options.min_ranks} requires more ranks.")
