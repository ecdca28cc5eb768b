"""Datatypes: the layout of a message's elements in memory.

typemap            a type map as a few regular pieces
layout             the pieces, size and bounds of one element; packing and unpacking
copying            copies between memory and packed bytes
definition         the definition behind a datatype handle
handle             the base class of Datatype: sizes, bounds, attributes
datatype           the class Datatype
basic              C's and Fortran's types
predefined         the predefined datatypes under MPI's names
derived            the constructors of derived types
derived_layouts    the layouts of derived types
darray             the share of one process in a distributed array
signature          type signatures, and their comparison
long_doubles       formats of long double
padding            bytes of elements that hold no part of a value
packing            Pack and Unpack, native and external32
"""
