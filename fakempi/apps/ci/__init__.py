"""The steps of the GitHub action, for any system: `python -m fakempi.apps.ci tests`, `python -m fakempi.apps.ci scripts`.

inputs       the inputs of a step, which are environment variables
suite        the step `tests`: pytest, and pytest on each number of ranks
scripts      the step `scripts`: `fakempi check` on each script
command      a command with a time limit, whose output is printed and whose last line is kept
record       the tests that a command ran, from the record that the pytest plugin writes
github       text for GitHub: tables in Markdown, annotations, groups of lines in the log, outputs

The inputs are never part of a shell command: a step passes them as environment variables, and each word is an argument.
"""
