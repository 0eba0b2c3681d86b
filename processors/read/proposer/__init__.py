"""How likely each role of a number column and each phase of a template is: a small model, trained by `benchmarks/proposer`."""
