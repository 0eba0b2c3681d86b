"""`python -m schedmate`, the same as the command `schedmate`."""

from schedmate.pipe import main

main()
