"""What acts: policies, guardrails and one actuator per scheduler. Knows records, and not how a log is parsed."""
