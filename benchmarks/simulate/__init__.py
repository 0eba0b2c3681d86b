"""What policies make of workloads: `python -m benchmarks.simulate` for spot jobs, `python -m benchmarks.simulate.packing` for Lucid."""
