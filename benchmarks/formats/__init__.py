"""Made-up training logs of made-up formats, with known truth: what each number is, what each line tells of, and how fast the training was."""
