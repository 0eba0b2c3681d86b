"""The real NVML binding against a stand-in library."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .conftest import HERE, ROOT, Probe

Start = Callable[..., Probe]
OPTIONAL = [
    *(
        "utilisation",
        "memory_utilisation",
        "memory_used_bytes",
        "memory_total_bytes",
        "power_watts",
        "temperature_c",
        "sm_clock_mhz",
    ),
    *("memory_clock_mhz", "throttle_reasons", "ecc_corrected", "ecc_uncorrected", "rows_remapped"),
    *("nvlink_errors", "nvlink_active", "recovery_action"),
]


def test_every_field_of_a_full_gpu(probe: Start) -> None:
    job = {"SLURM_JOB_ID": "4711", "RANK": "3", "SLURM_PROCID": "0"}
    with subprocess.Popen(["sleep", "60"], env={**os.environ, **job}) as sleeper:
        started = probe("full", FAKE_NVML_PID=str(sleeper.pid))
        [sample] = started.sample()
        sleeper.kill()
    assert "driver 999.99 (fake)" in started.about
    assert sample.pop("processes") == [
        {"pid": sleeper.pid, "memory_bytes": 59 << 30, "job": "4711", "rank": 3},
        {"pid": 4194305, "memory_bytes": None, "job": None, "rank": None},
    ]
    assert sample == {
        "v": 1,
        "id": "gpu/n1/0/1000500",
        "node": "n1",
        "gpu": 0,
        "uuid": "GPU-fake-0",
        "name": "Fake GPU (full)",
        "time": 1000.5,
        "utilisation": 97,
        "memory_utilisation": 41,
        "memory_used_bytes": 60 << 30,
        "memory_total_bytes": 80 << 30,
        "power_watts": 412.5,
        "temperature_c": 63,
        "sm_clock_mhz": 1755,
        "memory_clock_mhz": 2619,
        "throttle_reasons": ["sw_power_cap", "hw_thermal_slowdown", "bit_11"],
        "ecc_corrected": 17,
        "ecc_uncorrected": 2,
        "rows_remapped": 3,
        "nvlink_errors": 5 + 45 + 52 + 59,
        "nvlink_active": 3,
        "xids": [],
        "recovery_action": "gpu_reset",
        "recorded": False,
        "error": "",
    }
    assert started.close() == "closed"


def test_absent_fields_are_null_and_no_error(probe: Start) -> None:
    [sample] = probe("bare").sample()
    assert {sample[field] for field in OPTIONAL} == {None}
    assert (sample["error"], sample["processes"], sample["name"]) == ("", [], "Fake GPU (bare)")


def test_an_old_driver_is_asked_in_its_own_words(probe: Start) -> None:
    [sample] = probe("old", FAKE_NVML_PID=str(os.getpid())).sample()
    assert sample["memory_used_bytes"] == 61 << 30  # version 1 counts what the driver reserves
    assert sample["throttle_reasons"] == ["gpu_idle"]
    assert (sample["rows_remapped"], sample["recovery_action"]) == (None, None)
    assert [process["pid"] for process in sample["processes"]] == [os.getpid(), 4194305]
    assert sample["error"] == ""


def test_one_field_that_fails_is_named_and_the_others_stand(probe: Start) -> None:
    [sample] = probe("flaky").sample()
    assert (sample["power_watts"], sample["temperature_c"]) == (None, 63)
    assert sample["error"] == "power_watts: Unknown Error"


def test_a_gpu_falls_off_the_bus_and_comes_back(probe: Start) -> None:
    started = probe("full,full,full")
    assert [sample["error"] for sample in started.sample()] == ["", "", ""]
    started.set("lost-1")
    healthy, lost, other = started.sample()
    assert (lost["error"], lost["utilisation"], lost["uuid"]) == ("GPU is lost", None, "GPU-fake-1")
    assert healthy["utilisation"] == other["utilisation"] == 97
    started.sample()
    started.clear("lost-1")
    assert [sample["utilisation"] for sample in started.sample()] == [97, 97, 97]
    told = (started.folder / "stderr").read_text() if started.close() else ""
    assert told.count("gpu_unreadable") == 1, told
    assert told.count("gpu_readable_again") == 1, told


def test_a_gpu_that_is_lost_from_the_start(probe: Start, tmp_path: Path) -> None:
    (tmp_path / "lost-0").touch()
    started = probe("full,full")
    lost, healthy = started.sample()
    assert (lost["error"], lost["name"], healthy["error"]) == ("GPU is lost", "", "")
    started.clear("lost-0")
    assert started.sample()[0]["name"] == "Fake GPU (full)"


def test_xid_events_reach_the_sample_of_their_gpu_once(probe: Start) -> None:
    started = probe("full,bare,full")
    started.sample()
    started.set("xid-2", 63)
    samples = started.sample_until(lambda samples: any(sample["xids"] for sample in samples))
    assert [sample["xids"] for sample in samples] == [[], [], [63]]
    assert [sample["xids"] for sample in started.sample()] == [[], [], []]


def test_xid_events_of_a_gpu_that_comes_back(probe: Start, tmp_path: Path) -> None:
    (tmp_path / "lost-0").touch()
    started = probe("full")
    started.sample()
    started.clear("lost-0")
    started.sample()
    started.set("xid-0", 79)
    assert started.sample_until(lambda samples: bool(samples[0]["xids"]))[0]["xids"] == [79]


def test_events_that_fail_stop_neither_sampling_nor_later_events(probe: Start) -> None:
    started = probe("full")
    started.set("refuse-wait")
    started.sample()
    log = started.folder / "stderr"
    started.sample_until(lambda _: "dependency_unavailable" in log.read_text())
    assert started.sample()[0]["error"] == ""
    started.clear("refuse-wait")
    started.set("xid-0", 48)
    samples = started.sample_until(lambda samples: bool(samples[0]["xids"]))
    assert samples[0]["xids"] == [48]
    assert log.read_text().count("dependency_unavailable") == 1


def refusal(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, HERE / "nvml_probe.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    return done.stderr


def test_refusals_say_what_to_do(fake_nvml: Path, tmp_path: Path) -> None:
    fake = {"LD_LIBRARY_PATH": str(fake_nvml), "FAKE_NVML_GPUS": "full"}
    (tmp_path / "libnvidia-ml.so.1").write_text("not a library")  # first in the search path, also where a driver is
    broken = refusal(LD_LIBRARY_PATH=str(tmp_path))
    assert "libnvidia-ml.so.1" in broken
    assert "--replay FILE" in broken
    assert "kernel driver is not loaded" in refusal(**fake, FAKE_NVML_INIT="9")
    assert "without a reboot" in refusal(**fake, FAKE_NVML_INIT="18")
    assert "NVML shows none" in refusal(**{**fake, "FAKE_NVML_GPUS": ""})
