"""What the proposer of roles and phases is trained on, how it is trained, and how it is measured on frameworks that it has not seen."""
