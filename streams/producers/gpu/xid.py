"""Xid events: the driver's own error reports about a GPU, awaited while the GPUs are sampled.

Sources: NVML API reference, "Event Handling Methods"; NVIDIA, "Xid Errors".
"""

import contextlib
import threading
from typing import Any

import pynvml as nvml
import structlog

from ...resilience import Outage
from .nvml_reading import Handle, address

log = structlog.get_logger(__name__)

WAIT_MS = 500
"""Time limit of a call into NVML, and so of `close`."""


class XidWatch:
    """Collects Xid events in a thread of its own, by GPU.

    A GPU that cannot report Xids (a consumer board, a virtual GPU) is left out. After an error the event set is made anew
    from the GPUs that still answer, so one that fell off the bus does not silence the others.
    """

    def __init__(self) -> None:
        self._handles: dict[int, Handle] = {}
        self._seen: dict[int, list[int]] = {}
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._stop = threading.Event()
        self._outage = Outage("Xid events of NVML", consequence="they are asked for again")
        self._thread = threading.Thread(target=self._run, name="xid-events", daemon=True)

    def start(self) -> None:
        """Begin to listen. A second call does nothing."""
        if self._thread.ident is None:
            self._thread.start()

    def watch(self, gpu: int, handle: Handle) -> None:
        """Listen to `gpu` under `handle`, from within half a second on."""
        with self._lock:
            self._handles[gpu] = handle
        self._changed.set()

    def pop_all(self) -> dict[int, list[int]]:
        """Return the Xids that came since the last call, by GPU, in order."""
        with self._lock:
            seen, self._seen = self._seen, {}
        return seen

    def close(self) -> bool:
        """Stop listening. False where NVML does not come back, and must then not be shut down."""
        self._stop.set()
        self._changed.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=WAIT_MS / 1000 + 5)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._changed.clear()
            try:
                events = nvml.nvmlEventSetCreate()
            except nvml.NVMLError as failure:
                self._fail(failure)
                continue
            try:
                if self._register(events):
                    self._listen(events)
                else:
                    self._changed.wait()  # nothing to listen to until there is another GPU
            except nvml.NVMLError as failure:
                self._fail(failure)
            finally:
                with contextlib.suppress(nvml.NVMLError):
                    nvml.nvmlEventSetFree(events)

    def _register(self, events: Any) -> bool:
        with self._lock:
            handles = dict(self._handles)
        registered = False
        for handle in handles.values():
            with contextlib.suppress(nvml.NVMLError):
                nvml.nvmlDeviceRegisterEvents(handle, nvml.nvmlEventTypeXidCriticalError, events)
                registered = True
        return registered

    def _listen(self, events: Any) -> None:
        while not self._changed.is_set():
            try:
                event = nvml.nvmlEventSetWait_v2(events, WAIT_MS)
            except nvml.NVMLError_Timeout:
                self._outage.succeeded()
                continue
            self._outage.succeeded()
            if event.eventType & nvml.nvmlEventTypeXidCriticalError:
                self._note(event)

    def _note(self, event: Any) -> None:
        """Find the GPU by its pointer: NVML refuses to give the index of a GPU that is just being lost (Xid 79)."""
        xid = int(event.eventData)
        at = address(event.device)
        with self._lock:
            gpu = next((gpu for gpu, handle in self._handles.items() if address(handle) == at), None)
            if gpu is not None:
                self._seen.setdefault(gpu, []).append(xid)
        log.warning("xid", gpu=gpu, xid=xid)

    def _fail(self, failure: nvml.NVMLError) -> None:
        # A lost GPU makes the call fail at once, again and again.
        self._stop.wait(self._outage.failed(failure))
