"""Asks `schedmate advise serve` about a job: `python3 -I -S schedmate_ask.py SOCKET < question.json`. Python 3.6 or newer, nothing else."""

import socket
import sys

LONGEST = 65536
SECONDS = 1.0

question = sys.stdin.buffer.read(LONGEST).replace(b"\n", b" ") + b"\n"
with socket.socket(socket.AF_UNIX) as asked:
    asked.settimeout(SECONDS)
    asked.connect(sys.argv[1])
    asked.sendall(question)
    answer = asked.makefile("rb").readline(LONGEST)
sys.stdout.buffer.write(answer)
