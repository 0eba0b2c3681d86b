"""Probabilities of the roles of number columns and the phases of templates: a small model, trained by `benchmarks/proposer`."""
