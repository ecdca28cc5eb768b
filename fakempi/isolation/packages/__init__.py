"""Installed packages: which ones each rank needs a copy of, and failures that come from sharing one.

dependency_scan    finds packages that each rank needs a copy of, from their sources
mpi4py_bindings    detects whether a source stores an object of mpi4py
shared_package_checks    reports shared packages that store values of one rank
package_failures    recognizes failures that may come from sharing a package
mpi_libraries    rejects compiled modules that call an MPI library
"""
