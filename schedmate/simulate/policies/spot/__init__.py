"""Policies for clusters that lend idle GPUs to spot jobs: high-priority jobs evict them, and are never evicted."""
