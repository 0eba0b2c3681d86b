"""Speed, memory and latency, each beside something to compare with, in one run: `make bench`."""
