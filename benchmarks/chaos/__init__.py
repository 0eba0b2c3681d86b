"""Chaos: the whole pipeline under kills, stops, cut connections, full disks and hostile jobs, and a check of what it wrote."""
