"""Wrong programs, one error class of the public taxonomies each, with the line that is wrong (`# here`) and a correct twin.

The classes are those of the MPI Bugs Initiative (Laurent, Saillard, Quinson: "The MPI Bugs Initiative: a framework for MPI
verification tools evaluation", Correctness 2021) and of MUST's checks. `EXPECTED` is the kind of finding or the error.
"""
