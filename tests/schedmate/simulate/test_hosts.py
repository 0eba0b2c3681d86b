"""Hosts for packing, against a plain search through all of them."""

import random

from schedmate.simulate.job import Job, PackedWorkload, Run
from schedmate.simulate.policies.hosts import Hosts, Kinds

from .running import job

SUITED = {("a", "a"), ("a", "b"), ("c", "b")}


def suit(guest: Job, host: Job) -> bool:
    assert guest.workload
    assert host.workload
    return (guest.workload.model, host.workload.model) in SUITED


def kinds() -> Kinds:
    return Kinds(lambda each: each.workload, suit)


def test_jobs_that_packing_cannot_tell_apart_are_of_one_kind() -> None:
    known = kinds()
    first, second, other = (
        known.kind_of(job(name, 0, 1, workload=PackedWorkload(model)))
        for name, model in (("1", "a"), ("2", "a"), ("3", "b"))
    )
    assert (first == second, first == other) == (True, False)
    assert (known.suiting(first)[other], known.suiting(other)[first]) == (True, False)


def test_the_host_that_has_run_longest_of_those_that_suit_is_taken() -> None:
    draws = random.Random(1)
    for _ in range(50):
        known = kinds()
        hosts, plain = Hosts(known), list[tuple[Run, float]]()

        def add(hosts: Hosts = hosts, known: Kinds = known, plain: list[tuple[Run, float]] = plain) -> None:
            run = Run(job("", 0, 1, draws.choice([1, 2]), workload=PackedWorkload(draws.choice("abc"))), len(plain))
            service = draws.choice([5.0, 50.0, 200.0])
            hosts.add(run, run.job.total_gpus, known.kind_of(run.job), service)
            plain.append((run, service))

        for _ in range(20):
            add()
        for service in sorted(draws.uniform(0, 400) for _ in range(40)):
            guest = job("", 0, 1, draws.choice([1, 2]), workload=PackedWorkload(draws.choice("abc")))
            wanted = next(
                (
                    each
                    for each in plain
                    if each[0].job.gpus == guest.gpus and suit(guest, each[0].job) and service <= 2 * each[1]
                ),
                None,
            )
            kind = known.kind_of(guest)
            if kind in hosts.without[guest.total_gpus]:
                assert wanted is None
                continue
            assert hosts.remove_longest(guest.total_gpus, kind, service) is (wanted[0] if wanted else None)
            if wanted:
                plain.remove(wanted)
            if draws.random() < 0.2:
                add()
