"""A scheduler of your own: it reads decisions, carries each out once, and acknowledges it.

python examples/subscriber.py localhost:9092 my-scheduler
"""

import sys

from schedmate_records import Action, Decision
from scheduler_bridge import subscribe


def carry_out(decision: Decision) -> None:
    """Ask your scheduler here. Quotations (`reason`, `evidence`) are data: never put them into a command."""
    match decision.action:
        case Action.RESTART:
            print(f"start {decision.job} again, away from {', '.join(decision.exclude_nodes) or 'no node'}")
        case Action.CANCEL_PACKING:
            print(f"run {decision.job} alone, for the good of {decision.beneficiary}")
        case Action.EVICT:
            print(f"stop {decision.job} and queue it again")


def main(broker: str, group: str, seconds: float | None = None) -> None:
    """Carry out what comes; end after `seconds` without a decision, where that is given."""
    done: set[str] = set()
    with subscribe(broker, group, timeout=seconds) as decisions:
        for delivery in decisions:
            if delivery.decision.id not in done:  # it may come again, after a crash or a rebalance
                carry_out(delivery.decision)
                done.add(delivery.decision.id)
            delivery.ack()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
