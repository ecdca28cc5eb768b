"""Figures for papers and slides (matplotlib): SVG, PDF and PNG files with axes, units and a legend.

canvas        the style, the width, and the file of a figure
calibration   the fit of a calibration, and its errors
comparison    the times of algorithms as curves
run           timeline, matrix and wait states of a run
"""
