"""Figures for papers and slides (matplotlib): SVG, PDF and PNG files with axes, units and a legend.

Functions that return a figure take its `width` in inches, and a `style`: `paper`, `slides`, a style of matplotlib, or the
path of a `.mplstyle` file.

canvas         the style, the width, and the file of a figure
ticks          labels and minor ticks of axes
calibration    the fit of a calibration, and its errors
comparison     the times of algorithms as curves, speedups, ratios
curves         which curves a comparison draws, and how they look
makespans      the modeled time of a recorded run by algorithms and machines, as bars
heatmap        the fastest algorithm over numbers of ranks and sizes
run            timeline, matrix and wait states of a run
timeline       the states of ranks over time
arrows         messages, and the waits of a deadlock
collectives    the names of collective calls above a timeline
schedule_tree  the schedules of a search
"""
