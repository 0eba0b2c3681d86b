"""`python -m schedmate`, the same as the command `schedmate`."""

from schedmate.cli import main

main()
