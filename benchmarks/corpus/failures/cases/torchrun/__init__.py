"""torchrun over Gloo with 2 and 4 ranks, one of which is killed, hangs or fails: the cascade of the others is real."""

from . import agent, ranks, rendezvous

CASES = [*ranks.CASES, *agent.CASES, *rendezvous.CASES]
