"""Wrong programs, one error class of the public taxonomies each, with the wrong line (`# here`) and a correct version.

The classes are those of the MPI Bugs Initiative (Laurent, Saillard, Quinson: "The MPI Bugs Initiative: a framework for MPI
verification tools evaluation", Correctness 2021) and of MUST's checks. `EXPECTED` is the kind of finding or the error.
"""
