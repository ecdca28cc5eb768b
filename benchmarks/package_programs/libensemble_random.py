"""libensemble: a manager and workers on mpi4py, which evaluate random points."""

import os
import tempfile

import numpy as np
from libensemble.libE import libE


def sample(history, info, specs, _):
    points = np.zeros(4, dtype=specs["out"])
    points["x"] = np.arange(4.0).reshape(4, 1)
    return points, info


def evaluate(points, info, specs, _):
    out = np.zeros(len(points), dtype=specs["out"])
    out["f"] = points["x"][:, 0] ** 2
    return out, info


os.chdir(tempfile.mkdtemp())
history, _, flag = libE(
    {"sim_f": evaluate, "in": ["x"], "out": [("f", float)]},
    {"gen_f": sample, "out": [("x", float, (1,))], "user": {}},
    {"sim_max": 12},
    libE_specs={"comms": "mpi", "disable_log_files": True, "save_H_and_persis_on_abort": False},
)
if history is not None and len(history):
    print(flag, int(history["sim_ended"].sum()), float(history["f"][history["sim_ended"]].sum()))
