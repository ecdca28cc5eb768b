"""`fakempi completion`: completion of commands, options and names in a shell.

shells      the scripts for bash, zsh and fish: they run `fakempi completion --words` with the words of the line
candidates  which option or argument the last word belongs to, from the parsers of argparse
options     options of fakempi completion and fakempi help
commands    fakempi completion SHELL, fakempi help COMMAND
values      the names that an option takes: cost models, operations, algorithms, kinds of findings

Nothing is stored, so completion has every option and every algorithm that is installed.
"""
