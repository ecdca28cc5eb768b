"""The command `fakempi`, also `python -m fakempi`: run, view, list, compare, learn, tour. The only room that prints.

parser        what can be typed, with examples
running       fakempi run: a script on every rank, its exit code, what to say when it fails
watching      while a script runs: the live line, the time-out, Ctrl-C
viewing       fakempi view: pictures of a trace; playing is its replay
keyboard      single keys, as they are pressed
listing       fakempi list: the catalogue
comparing     fakempi compare: algorithms against each other
tables        how a comparison is shown
workers       processes that share its work
learning      fakempi learn: exercises; learn_options, learn_screen, learn_watching are its options, its look, its loop
touring       fakempi tour: the best of it in a minute
console       where it is printed
"""

from fakempi.cli.main import main

__all__ = ["main"]
