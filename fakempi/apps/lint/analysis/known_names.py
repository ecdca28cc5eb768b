"""Functions outside the file that the analysis knows: their results depend only on their arguments, without MPI calls."""

from __future__ import annotations

import builtins
import sys

PURE = {
    "abs", "all", "any", "bool", "bytes", "complex", "dict", "divmod", "enumerate", "filter", "float", "frozenset",
    "int", "len", "list", "map", "max", "min", "pow", "range", "reversed", "round", "set", "sorted", "str", "sum",
    "tuple", "zip", "ceil", "floor",
}  # fmt: skip
BUILTINS = frozenset(dir(builtins))
WITHOUT_MPI = {
    *(name for name in sys.stdlib_module_names), "numpy", "scipy", "matplotlib", "h5py", "pandas", "yaml", "tqdm", "pytest",
}  # fmt: skip
"""Modules whose functions make no MPI calls on a communicator that the program did not pass to them."""
CLOCKS = {"time.time", "time.perf_counter", "time.monotonic", "time.process_time", "MPI.Wtime", "MPI.Get_processor_name",
          "socket.gethostname", "os.getpid"}  # fmt: skip
"""Functions whose results differ between processes."""
ARRAYS = {
    "zeros", "ones", "empty", "full", "arange", "linspace", "zeros_like", "ones_like", "empty_like", "array", "asarray",
}  # fmt: skip
ARRAY_METHODS = {
    "sum", "max", "min", "mean", "any", "all", "copy", "astype", "reshape", "ravel", "flatten", "item", "tolist",
    "argmax", "argmin", "std", "dot", "nonzero", "keys", "values", "items", "get", "strip", "split", "startswith",
    "endswith", "lower", "upper", "format", "append", "extend", "sort", "fill", "pop", "add", "update", "remove",
    "insert", "write", "read", "close", "flush", "join", "clear", "count", "index", "tobytes", "encode", "decode",
    "setdefault", "exists", "info", "debug", "warning", "error",
}  # fmt: skip
"""Methods of arrays, containers, texts, files and loggers: they make no MPI calls."""
CHUNKS = {"array_split", "split"}
