"""Services that a job needs and cannot reach: names that do not resolve, refused, reset, silent and failing servers, ports in use."""

from textwrap import dedent

from benchmarks.corpus.failures.case import Case, Truth, infrastructure, raised, user_script

_SERVER = """
import http.server
import socket
import struct
import sys
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        way = sys.argv[1]
        if way == "silent":
            time.sleep(60)
        if way in ("401", "404", "503"):
            self.send_error(int(way))
            return
        self.send_response(200)
        self.send_header("Content-Length", "4000000")
        self.end_headers()
        self.wfile.write(bytes(200_000))
        self.wfile.flush()
        if way == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open("port", "w").write(str(server.server_port))
server.serve_forever()
"""
_FETCH = """
import os
import urllib.request

from loop import train

port = open("port").read() if os.path.exists("port") else "9"
for step in train():
    if step % 4 == 0:
        with urllib.request.urlopen(f"http://{host}:{port}/shards/part-{step}.bin", timeout=2) as answer:
            answer.read()
"""
_SERVED = "python server.py {way} & server=$!\nwhile [ ! -s port ]; do sleep 0.1; done\npython train.py; code=$?\nkill $server\nexit $code"
_ALONE = "unshare --map-root-user --net python train.py"


def _case(name: str, program: str, truth: Truth, run: str = "python train.py", style: str = "plain") -> Case:
    files = {"train.py": dedent(program).lstrip(), "server.py": _SERVER}
    return Case(name, run, truth, files, style=style)


def _network(
    message: str, why: str, *, restartable: bool | None, also: tuple[str, ...] = (), end: str = "", begin: str = ""
) -> Truth:
    marks = raised(message) | ({"begin": begin} if begin else {})
    return infrastructure(
        "network",
        why=why,
        restartable=restartable,
        also_types=also,
        also_components=("none",) if also else (),
        end=end,
        **marks,
    )


CASES = [
    _case(
        "name_unknown",
        _FETCH.replace("{host}", "data.cluster.invalid"),
        _network(
            r"^socket\.gaierror",
            "the name of the data server does not resolve",
            restartable=None,
            also=("user_script",),
            end=r"^urllib\.error\.URLError",
        ),
    ),
    _case(
        "no_network",
        "import socket\n\nfrom loop import train\n\nfor step in train():\n    if step == 5011:\n"
        "        socket.create_connection(('192.0.2.7', 443), 3)\n",
        _network(r"^OSError: \[Errno 101\] Network is unreachable", "the node has no network", restartable=True),
        _ALONE,
    ),
    _case(
        "name_service_down",
        """
        import time
        import urllib.request

        from loop import train

        for step in train():
            if step == 5016:
                for attempt in (1, 2):
                    try:
                        urllib.request.urlopen("https://metrics.cluster.internal/api/log", timeout=3)
                    except OSError as error:
                        print(f"WARNING metrics server, attempt {attempt}: {error}; trying again", flush=True)
                        time.sleep(0.2)
                urllib.request.urlopen("https://metrics.cluster.internal/api/log", timeout=3)
        """,
        _network(
            r"^socket\.gaierror",
            "no name service on this node",
            restartable=None,
            also=("user_script",),
            begin=r"WARNING metrics server, attempt 1",
            end=r"^urllib\.error\.URLError",
        ),
        _ALONE,
    ),
    _case(
        "refused",
        _FETCH.replace("{host}", "127.0.0.1"),
        _network(
            r"^ConnectionRefusedError",
            "nothing listens at the data server's port",
            restartable=None,
            also=("user_script",),
            end=r"^urllib\.error\.URLError",
        ),
    ),
    _case(
        "reset",
        _FETCH.replace("{host}", "127.0.0.1"),
        _network(
            r"^ConnectionResetError: \[Errno 104\]|IncompleteRead",
            "the data server resets the connection within a shard",
            restartable=True,
        ),
        _SERVED.format(way="reset"),
    ),
    _case(
        "cut_short",
        _FETCH.replace("{host}", "127.0.0.1"),
        _network(
            r"^http\.client\.IncompleteRead", "the data server closes the connection within a shard", restartable=True
        ),
        _SERVED.format(way="short"),
    ),
    _case(
        "silent",
        _FETCH.replace("{host}", "127.0.0.1"),
        _network(
            r"^TimeoutError: timed out", "the data server takes the connection and never answers", restartable=True
        ),
        _SERVED.format(way="silent"),
    ),
    _case(
        "unavailable",
        _FETCH.replace("{host}", "127.0.0.1"),
        _network(r"^urllib\.error\.HTTPError: HTTP Error 503", "the data server is overloaded", restartable=True),
        _SERVED.format(way="503"),
    ),
    _case(
        "unavailable_retried",
        """
        import logging
        import time
        import urllib.request

        from loop import train

        log = logging.getLogger("store")
        port = open("port").read()


        def fetch(step):
            for attempt in range(1, 5):
                try:
                    return urllib.request.urlopen(f"http://127.0.0.1:{port}/shard/{step}").read()
                except OSError as error:
                    log.warning("attempt %d of 4 failed: %s", attempt, error)
                    time.sleep(0.1)
            raise ConnectionError(f"shard {step}: gave up after 4 attempts")


        for step in train():
            if step == 5019:
                fetch(step)
        """,
        _network(
            r"^ConnectionError: shard 5019: gave up",
            "the object store is overloaded for longer than the program tries",
            restartable=True,
            begin=r"attempt 1 of 4 failed",
        ),
        _SERVED.format(way="503").replace("python train.py", "STYLE=logging python train.py"),
        style="logging",
    ),
    _case(
        "unauthorized",
        _FETCH.replace("{host}", "127.0.0.1"),
        user_script(why="no valid token for the data server", **raised(r"^urllib\.error\.HTTPError: HTTP Error 401")),
        _SERVED.format(way="401"),
    ),
    _case(
        "not_found",
        _FETCH.replace("{host}", "127.0.0.1"),
        user_script(
            why="a shard that the server does not have", **raised(r"^urllib\.error\.HTTPError: HTTP Error 404")
        ),
        _SERVED.format(way="404"),
    ),
    _case(
        "port_in_use",
        """
        import http.server
        import socket

        from loop import train

        other = socket.socket()
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        for step in train(7):
            pass
        print(f"serving metrics on port {port}", flush=True)
        http.server.HTTPServer(("127.0.0.1", port), http.server.BaseHTTPRequestHandler)
        """,
        user_script(
            why="another process listens on the metrics' port",
            restartable=True,
            also_types=("infrastructure",),
            also_components=("network", "node"),
            **raised(r"^OSError: \[Errno 98\] Address already in use"),
        ),
    ),
    _case(
        "peer_died",
        """
        import os
        import socket
        import sys

        from loop import train

        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            ours.close()
            theirs.recv(100)
            print("[coordinator] FATAL: lease on /experiments/17 lost, stepping down", flush=True)
            os._exit(4)
        theirs.close()
        for step in train():
            if step >= 5012:
                ours.sendall(b"x" * 10)
                import time

                time.sleep(0.3)
        """,
        Truth(
            "user_script",
            "none",
            None,
            r"\[coordinator\] FATAL: lease",
            "the coordinator gives up; the trainer's broken pipe follows from it",
            also_types=("framework", "infrastructure", "other", "unknown"),
        ),
    ),
]
