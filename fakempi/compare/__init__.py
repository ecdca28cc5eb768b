"""Algorithms of one operation against each other, over numbers of ranks or sizes. Nothing is printed here.

calls     what a rank hands to an algorithm: buffers of the right sizes, without contents
bounds    what no algorithm can beat
sweep     the cases, their times, and the best
"""
