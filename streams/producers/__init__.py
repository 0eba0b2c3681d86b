"""Producers: pipe, collector, GPU agent and scheduler watcher, over one shipping mechanism."""
