"""A small classifier and made-up data, for the programs that train with PyTorch."""

import torch

FEATURES, CLASSES = 32, 4


def model() -> torch.nn.Module:
    """Return a perceptron of random weights."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return torch.nn.Sequential(torch.nn.Linear(FEATURES, 64), torch.nn.ReLU(), torch.nn.Linear(64, CLASSES))


def dataset(samples: int) -> torch.utils.data.TensorDataset:
    """Return points that a perceptron can learn to tell apart."""
    generator = torch.Generator().manual_seed(1)
    labels = torch.randint(0, CLASSES, (samples,), generator=generator)
    centres = torch.randn(CLASSES, FEATURES, generator=generator)
    points = centres[labels] + 1.5 * torch.randn(samples, FEATURES, generator=generator)
    return torch.utils.data.TensorDataset(points, labels)


def loader(samples: int, batch: int) -> torch.utils.data.DataLoader:
    """Return batches of that data, always in the same order."""
    return torch.utils.data.DataLoader(dataset(samples), batch_size=batch, shuffle=False)
