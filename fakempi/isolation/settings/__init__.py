"""Settings of the process that belong to a rank while it runs.

exchange    settings that a rank has changed, exchanged when another rank runs
tracked    values that are read again only after a call that may have changed them
packages    settings of well-known packages that all ranks share
module_attributes    attributes that a rank sets on `builtins` and other shared modules
module_table    `sys.modules` for programs
library_settings    functions of the standard library that change the whole process
signals    signal handlers of each rank
launchers    environment variables that mpiexec, mpirun and srun set for each rank
launcher_environment    these variables in `os.environ` of ranks of one process
"""
