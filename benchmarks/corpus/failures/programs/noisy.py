"""The loop of `loop.py` with what long healthy runs print beside it: warnings full of the word error, retries, handled tracebacks."""

import logging
import socket

from loop import train

log = logging.getLogger("store")


def upload(step: int) -> None:
    """Send metrics to a server that is not there."""
    socket.create_connection(("127.0.0.1", 9), timeout=1).sendall(str(step).encode())


for number in train():
    if number % 900 == 0:
        try:
            upload(number)
        except OSError:
            log.exception("upload of metrics failed, kept for the next time")
    if number % 370 == 0:
        log.warning("2 corrupt samples skipped; error rate %.4f %%", 200 / number)
    if number % 1000 == 0:
        log.info("validation error %.5f, top-1 error 0.2%d", 1 / number, number % 89)
