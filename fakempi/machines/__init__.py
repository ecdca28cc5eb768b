"""Machines: cost models that are fitted to measurements, and the accuracy of their predictions.

Samples are from a real MPI (`measuring`), from CSV files (`csv_files`) or from the output of benchmark programs
(`benchmark_texts`). `calibration` fits a `MultiLevel` cost model to them and states its error at points that were held out.
`placement` counts the cores of nodes, sockets and caches. `writing` writes a machine file. `agreement` compares modeled with
measured times of collective algorithms.
"""
