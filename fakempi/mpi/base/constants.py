"""MPI's constants, except error classes (`fakempi.errors.classes`).

Most values are those of MPICH, so that printed values look familiar. Programs must use the names.
"""

from typing import Final

# Special ranks and tags.
UNDEFINED: Final[int] = -32766
ANY_SOURCE: Final[int] = -2
ANY_TAG: Final[int] = -1
PROC_NULL: Final[int] = -1
ROOT: Final[int] = -3

# Predefined attribute keys of communicators.
KEYVAL_INVALID: Final[int] = 603979776
TAG_UB: Final[int] = 1681915905
IO: Final[int] = 1681915909
WTIME_IS_GLOBAL: Final[int] = 1681915911
UNIVERSE_SIZE: Final[int] = 1681915913
APPNUM: Final[int] = 1681915917
LASTUSEDCODE: Final[int] = 1681915915

# Predefined attribute keys of windows.
WIN_BASE: Final[int] = 1711276033
WIN_SIZE: Final[int] = 1711276035
WIN_DISP_UNIT: Final[int] = 1711276037
WIN_CREATE_FLAVOR: Final[int] = 1711276039
WIN_FLAVOR: Final[int] = WIN_CREATE_FLAVOR
WIN_MODEL: Final[int] = 1711276041

# Orders of array elements.
ORDER_C: Final[int] = 56
ORDER_FORTRAN: Final[int] = 57
ORDER_F: Final[int] = ORDER_FORTRAN

# Classes of basic datatypes.
TYPECLASS_REAL: Final[int] = 1
TYPECLASS_INTEGER: Final[int] = 2
TYPECLASS_COMPLEX: Final[int] = 3
TYPECLASS_LOGICAL: Final[int] = 4

# Distributions of an array dimension.
DISTRIBUTE_BLOCK: Final[int] = 121
DISTRIBUTE_CYCLIC: Final[int] = 122
DISTRIBUTE_NONE: Final[int] = 123
DISTRIBUTE_DFLT_DARG: Final[int] = -49767

# Combiners: how a datatype was constructed.
COMBINER_NAMED: Final[int] = 1
COMBINER_DUP: Final[int] = 2
COMBINER_CONTIGUOUS: Final[int] = 3
COMBINER_VECTOR: Final[int] = 4
COMBINER_HVECTOR: Final[int] = 6
COMBINER_INDEXED: Final[int] = 7
COMBINER_HINDEXED: Final[int] = 9
COMBINER_INDEXED_BLOCK: Final[int] = 10
COMBINER_STRUCT: Final[int] = 12
COMBINER_SUBARRAY: Final[int] = 13
COMBINER_DARRAY: Final[int] = 14
COMBINER_F90_REAL: Final[int] = 15
COMBINER_F90_COMPLEX: Final[int] = 16
COMBINER_F90_INTEGER: Final[int] = 17
COMBINER_RESIZED: Final[int] = 18
COMBINER_HINDEXED_BLOCK: Final[int] = 19
COMBINER_VALUE_INDEX: Final[int] = 20

# Indices of the public fields in a Fortran status, which is an array of F_STATUS_SIZE integers.
F_SOURCE: Final[int] = 2
F_TAG: Final[int] = 3
F_ERROR: Final[int] = 4
F_STATUS_SIZE: Final[int] = 5

# Results of Compare.
IDENT: Final[int] = 0
CONGRUENT: Final[int] = 1
SIMILAR: Final[int] = 2
UNEQUAL: Final[int] = 3

# Topologies, and special values for the weights of a graph.
GRAPH: Final[int] = 1
CART: Final[int] = 2
DIST_GRAPH: Final[int] = 3
UNWEIGHTED: Final[int] = 10
WEIGHTS_EMPTY: Final[int] = 20

# Kinds of Split_type.
COMM_TYPE_SHARED: Final[int] = 1
COMM_TYPE_HW_GUIDED: Final[int] = 2
COMM_TYPE_HW_UNGUIDED: Final[int] = 3
COMM_TYPE_RESOURCE_GUIDED: Final[int] = 4

# Bytes that a buffered send needs in the attached buffer in addition to the message.
BSEND_OVERHEAD: Final[int] = 96

# Windows: flavors, memory models, assertions, locks.
WIN_FLAVOR_CREATE: Final[int] = 1
WIN_FLAVOR_ALLOCATE: Final[int] = 2
WIN_FLAVOR_DYNAMIC: Final[int] = 3
WIN_FLAVOR_SHARED: Final[int] = 4
WIN_SEPARATE: Final[int] = 1
WIN_UNIFIED: Final[int] = 2
MODE_NOCHECK: Final[int] = 1024
MODE_NOSTORE: Final[int] = 2048
MODE_NOPUT: Final[int] = 4096
MODE_NOPRECEDE: Final[int] = 8192
MODE_NOSUCCEED: Final[int] = 16384
LOCK_EXCLUSIVE: Final[int] = 234
LOCK_SHARED: Final[int] = 235

# Files: access modes (bits), seeking.
MODE_CREATE: Final[int] = 1
MODE_RDONLY: Final[int] = 2
MODE_WRONLY: Final[int] = 4
MODE_RDWR: Final[int] = 8
MODE_DELETE_ON_CLOSE: Final[int] = 16
MODE_UNIQUE_OPEN: Final[int] = 32
MODE_EXCL: Final[int] = 64
MODE_APPEND: Final[int] = 128
MODE_SEQUENTIAL: Final[int] = 256
SEEK_SET: Final[int] = 600
SEEK_CUR: Final[int] = 602
SEEK_END: Final[int] = 604
DISPLACEMENT_CURRENT: Final[int] = -54278278
DISP_CUR: Final[int] = DISPLACEMENT_CURRENT

# Levels of thread support.
THREAD_SINGLE: Final[int] = 0
THREAD_FUNNELED: Final[int] = 1
THREAD_SERIALIZED: Final[int] = 2
THREAD_MULTIPLE: Final[int] = 3

# The version of the MPI standard.
VERSION: Final[int] = 4
SUBVERSION: Final[int] = 1

# Maximum lengths of strings, in bytes.
MAX_PROCESSOR_NAME: Final[int] = 128
MAX_ERROR_STRING: Final[int] = 512
MAX_PORT_NAME: Final[int] = 1024
MAX_INFO_KEY: Final[int] = 255
MAX_INFO_VAL: Final[int] = 1024
MAX_OBJECT_NAME: Final[int] = 128
MAX_DATAREP_STRING: Final[int] = 128
MAX_LIBRARY_VERSION_STRING: Final[int] = 8192
MAX_PSET_NAME_LEN: Final[int] = 256
MAX_STRINGTAG_LEN: Final[int] = 256
