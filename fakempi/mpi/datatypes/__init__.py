"""Datatypes: how the elements of a message lie in memory.

typemap, layout         a type map as a few regular pieces; copying between memory and packed bytes
definition, handle      what stands behind a datatype handle, and what every handle knows
basic, derived, darray  C's and Fortran's types; types made of types; shares of a distributed array
datatype, predefined    the class that programs hold, and its instances that MPI names
packing, quadruple      Pack and Unpack, native and external32; long doubles there
"""
