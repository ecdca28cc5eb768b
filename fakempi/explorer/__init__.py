"""A run to look around in, in the terminal: `fakempi view -i t.npz`.

glass       what part of a run is seen, and where the cursor is: plain numbers
under       what there is at a moment of a rank, in words, with the line of the program
app         the screen: timeline, sheets, search, keys and mouse
"""
