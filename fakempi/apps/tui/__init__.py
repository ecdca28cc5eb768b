"""The interactive trace viewer in the terminal (textual): timeline, search, and all views of `fakempi.view`.

viewport    the visible part of a run, and the cursor
hit_test    the message, compute interval or wait at a rank and time
app         the screen
"""
