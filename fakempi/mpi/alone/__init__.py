"""The world of one: what COMM_WORLD is outside a run.

universe   a universe of one process, whose program is whoever calls, made at the first call that needs it
loop       its loop: there is nobody to hand the baton to, so a wait that cannot end is a deadlock at once
"""
