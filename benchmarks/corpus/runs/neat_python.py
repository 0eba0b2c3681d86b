"""NEAT: a paragraph a generation, with a table of species and the time of the generation."""

import math
import random
import sys
from pathlib import Path

import neat
from clock import Clock

SETUPS = ("species", "no_species")
GENERATIONS = 25
SETTINGS = """
[NEAT]
fitness_criterion = max
fitness_threshold = 1000
no_fitness_termination = False
pop_size = 30
reset_on_extinction = True
[DefaultGenome]
activation_default = sigmoid
activation_mutate_rate = 0.0
activation_options = sigmoid
aggregation_default = sum
aggregation_mutate_rate = 0.0
aggregation_options = sum
single_structural_mutation = False
structural_mutation_surer = default
bias_init_mean = 0.0
bias_init_stdev = 1.0
bias_init_type = gaussian
bias_max_value = 30.0
bias_min_value = -30.0
bias_mutate_power = 0.5
bias_mutate_rate = 0.7
bias_replace_rate = 0.1
compatibility_disjoint_coefficient = 1.0
compatibility_weight_coefficient = 0.5
conn_add_prob = 0.5
conn_delete_prob = 0.5
enabled_default = True
enabled_mutate_rate = 0.01
enabled_rate_to_false_add = 0.0
enabled_rate_to_true_add = 0.0
feed_forward = True
initial_connection = full_direct
node_add_prob = 0.2
node_delete_prob = 0.2
num_hidden = 0
num_inputs = 2
num_outputs = 1
response_init_mean = 1.0
response_init_stdev = 0.0
response_init_type = gaussian
response_max_value = 30.0
response_min_value = -30.0
response_mutate_power = 0.0
response_mutate_rate = 0.0
response_replace_rate = 0.0
weight_init_mean = 0.0
weight_init_stdev = 1.0
weight_init_type = gaussian
weight_max_value = 30
weight_min_value = -30
weight_mutate_power = 0.5
weight_mutate_rate = 0.8
weight_replace_rate = 0.1
[DefaultSpeciesSet]
compatibility_threshold = 3.0
[DefaultStagnation]
species_fitness_func = max
max_stagnation = 20
species_elitism = 2
[DefaultReproduction]
elitism = 2
survival_threshold = 0.2
min_species_size = 2
"""


class Hook(neat.reporting.BaseReporter):  # type: ignore[misc]
    """Clocks generations, before the one that prints does."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def end_generation(self, *_: object) -> None:
        self.clock.step()


def evaluate(genomes: list, settings: object) -> None:  # type: ignore[type-arg]
    for _, genome in genomes:
        network = neat.nn.FeedForwardNetwork.create(genome, settings)
        genome.fitness = 4.0
        for one in (0.0, 1.0):
            for two in (0.0, 1.0):
                genome.fitness -= math.pow(network.activate((one, two))[0] - float(one != two), 2)


def train(setup: str) -> None:
    random.seed(0)
    Path("settings").write_text(SETTINGS)
    settings = neat.Config(
        neat.DefaultGenome, neat.DefaultReproduction, neat.DefaultSpeciesSet, neat.DefaultStagnation, "settings"
    )
    population = neat.Population(settings)
    clock = Clock(pace=0.6)
    population.add_reporter(Hook(clock))
    population.add_reporter(neat.StdOutReporter(setup == "species"))
    clock.begin()
    population.run(evaluate, GENERATIONS)
    # It counts from 0. A fitness is no loss.
    clock.finish(step=[GENERATIONS - 1, GENERATIONS], loss=None)


if __name__ == "__main__":
    train(sys.argv[1])
