import os

from streams.producers.background import NICENESS, step_aside


def test_who_steps_aside_takes_no_processor_from_the_job() -> None:
    read_end, write_end = os.pipe()
    if (process := os.fork()) == 0:
        try:
            step_aside(write_end)
            os.write(write_end, b"%d %d" % (os.nice(0), os.getsid(0) == os.getpid()))
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as said:
        assert said.read() == b"%d 1" % NICENESS
    os.waitpid(process, 0)
