"""spotpy's first rank sends the runs of a Monte Carlo sampling to the others."""

import contextlib
import io

import numpy as np
import spotpy


class Setup:
    """A parabola with one parameter."""

    x = spotpy.parameter.Uniform(low=-1, high=1)

    def simulation(self, vector):
        """The simulated values."""
        return [vector[0] ** 2]

    def evaluation(self):
        """The observed values."""
        return [0.25]

    def objectivefunction(self, simulation, evaluation):
        """The error of a simulation."""
        return -abs(simulation[0] - evaluation[0])


sampler = spotpy.algorithms.mc(Setup(), dbname="found", dbformat="ram", parallel="mpi", random_state=4)
with contextlib.redirect_stdout(io.StringIO()):  # it prints the time of the run
    sampler.sample(40)
found = sampler.getdata()
print("result", len(found), np.round(np.sort(found["like1"])[-3:], 6).tolist())
