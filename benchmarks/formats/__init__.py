"""Training logs of made-up formats, with known truth: what each number is, what each line tells of, how fast the training was."""
