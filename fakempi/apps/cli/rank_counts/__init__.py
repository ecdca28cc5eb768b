"""`-n 1..16` of `fakempi check` and `fakempi run`: the same script on several numbers of ranks, smallest first.

parsing    the numbers of `-n`; core/rank_numbers.py has those that a text names
budget    the shares of `--runs` and `--seconds`
refusal    whether the program itself rejects a number of ranks
results    the result of each number: its line, the verdict on all of them, and the exit code
across    the results of all numbers compared: `--compare across`
check    `fakempi check -n 1..16`
run    `fakempi run -n 1..16`
"""
