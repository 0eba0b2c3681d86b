"""Fuzz targets: one for each parser of foreign bytes. `make fuzz` runs them for a while, and the tests run each a few times."""
