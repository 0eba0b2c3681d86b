"""`python -m schedmate`, the same as the command `schedmate`."""

from .pipe import main

main()
