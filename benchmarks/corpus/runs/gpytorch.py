"""GPyTorch: the prints of its examples' loop, hyperparameters behind the loss, and their bars of epochs and batches."""

import sys

import gpytorch
import torch
from clock import Clock
from tqdm import tqdm

SETUPS = ("exact_prints", "variational_bars")
STEPS, EPOCHS, BATCH, BATCHES = 150, 6, 64, 25


class Exact(gpytorch.models.ExactGP):  # type: ignore[misc]
    """The model of the first example."""

    def __init__(self, points: torch.Tensor, values: torch.Tensor, likelihood: object) -> None:
        super().__init__(points, values, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, points: torch.Tensor) -> object:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(points), self.covar_module(points))


class Variational(gpytorch.models.ApproximateGP):  # type: ignore[misc]
    """The model of the second one."""

    def __init__(self, points: torch.Tensor) -> None:
        found = gpytorch.variational.CholeskyVariationalDistribution(len(points))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, found))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, points: torch.Tensor) -> object:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(points), self.covar_module(points))


def exact(points: torch.Tensor, values: torch.Tensor) -> None:
    clock = Clock(pace=0.1)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(points[:100], values[:100], likelihood)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    score = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    clock.begin()
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = -score(model(points[:100]), values[:100])
        loss.backward()
        clock.step(loss.item())
        print(
            f"Iter {step + 1}/{STEPS} - Loss: {loss.item():.3f}   lengthscale: "
            f"{model.covar_module.base_kernel.lengthscale.item():.3f}   noise: {likelihood.noise.item():.3f}"
        )
        optimizer.step()
    clock.finish(step=STEPS, loss=clock.losses[-1], speed=False)


def variational(points: torch.Tensor, values: torch.Tensor) -> None:
    clock = Clock(pace=0.06, batch=BATCH)
    data = torch.utils.data.TensorDataset(points, values)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Variational(points[:20].clone())
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.01)
    score = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(points))
    for _ in tqdm(range(EPOCHS), desc="Epoch"):
        clock.begin()
        batches = tqdm(torch.utils.data.DataLoader(data, batch_size=BATCH), desc="Iteration", leave=False)
        for some, seen in batches:
            optimizer.zero_grad()
            loss = -score(model(some), seen)
            batches.set_postfix(loss=loss.item())
            loss.backward()
            optimizer.step()
            clock.step(loss.item())
    # Its bars vanish when they are full: the last that stands may be one before the last.
    steps = [each - late for each in (BATCHES, clock.steps) for late in range(3)]
    clock.finish(step=[*steps, EPOCHS], loss=clock.losses[-3:])


def train(setup: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    points = torch.rand(BATCH * BATCHES)
    values = torch.sin(points * 6) + torch.randn(len(points)) * 0.2
    {"exact_prints": exact, "variational_bars": variational}[setup](points, values)


if __name__ == "__main__":
    train(sys.argv[1])
