"""DEAP: a genetic algorithm whose individuals are evaluated on schwimmbad's MPIPool."""

import random
import sys

from deap import algorithms, base, creator, tools
from schwimmbad import MPIPool

creator.create("Fitness", base.Fitness, weights=(1.0,))
creator.create("Individual", list, fitness=creator.Fitness)


def ones(individual):
    return (sum(individual),)


with MPIPool() as pool:
    if not pool.is_master():
        pool.wait()
        sys.exit(0)
    random.seed(1)
    toolbox = base.Toolbox()
    toolbox.register("bit", random.randint, 0, 1)
    toolbox.register("individual", tools.initRepeat, creator.Individual, toolbox.bit, 20)
    toolbox.register("evaluate", ones)
    toolbox.register("mate", tools.cxTwoPoint)
    toolbox.register("mutate", tools.mutFlipBit, indpb=0.05)
    toolbox.register("select", tools.selTournament, tournsize=3)
    toolbox.register("map", pool.map)
    people = tools.initRepeat(list, toolbox.individual, 20)
    people, _ = algorithms.eaSimple(people, toolbox, 0.5, 0.2, 8, verbose=False)
    print(max(map(sum, people)))
