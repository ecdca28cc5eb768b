"""Pictures of a run for the terminal: pure functions that return what rich can print. Nothing here prints.

Every view is legible at 80 columns, in 16 colours, without colour, and in a file: what a colour says, a character says too.

numbers     numbers for people, and the ticks of an axis
plot        lines over numbers
rows        ranks folded to as many rows as there is room for
timeline    what every rank does when; two runs side by side
calls       the same by what the program called
matrix      who sends how much to whom
blocks      who holds which block, by rounds
critical    the path that decided when the run ended
waits       why ranks were idle
summary     a run in a dozen lines; two runs compared
palette     colours in 24 bits
gallery     each of these by its name
replay      messages that travel, moment by moment
export      SVG; drawing: timelines and matrices for paper
page        one HTML file to look around in
"""
