"""What the programs of the family have in common."""

from textwrap import dedent

from benchmarks.corpus.failures.case import Case, Truth


def case(
    name: str,
    program: str,
    truth: Truth | None,
    run: str = "python train.py",
    *,
    seconds: float = 120,
    **files: str,
) -> Case:
    """Return a case of a program in Python; `files` are others, by their names with `_` for the dot."""
    others = {each.replace("_", "."): dedent(text).lstrip() for each, text in files.items()}
    return Case(name, run, truth, {"train.py": dedent(program).lstrip(), **others}, environment="cuda", seconds=seconds)


def at_step(name: str, body: str, truth: Truth | None, run: str = "python train.py", *, before: str = "") -> Case:
    """Return a case in which `body` fails at a step of the loop; `before` stands above the loop."""
    lines = dedent(body).strip().replace("\n", "\n                    ")
    above = dedent(before).strip().replace("\n", "\n            ")
    program = f"""
            import torch
            from loop import train

            {above}

            for step in train():
                if step == 5017:
                    {lines}
            """
    return case(name, program, truth, run)


JAX = "XLA_PYTHON_CLIENT_PREALLOCATE=false python train.py"


LIGHTNING = """
import lightning as L
import torch
from lightning.pytorch.plugins.environments import LightningEnvironment


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 1)

    def training_step(self, batch, index):
        loss = self.layer(batch[0]).pow(2).mean()
        if index == 40:
            torch.empty(1 << 38, device=self.device)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


data = torch.utils.data.TensorDataset(torch.randn(4000, 64))
trainer = L.Trainer(
    max_epochs=2, accelerator="gpu", devices=1, enable_checkpointing=False, logger=False,
    plugins=[LightningEnvironment()],
)
trainer.fit(Net(), torch.utils.data.DataLoader(data, batch_size=32))
"""


TRAINER = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=64, vocab_size=1000))


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        ids = torch.arange(64) % 1000
        {fault}
        return dict(input_ids=ids, labels=ids)


options = TrainingArguments("out", per_device_train_batch_size=16, logging_steps=5, max_steps=200, report_to=[], save_strategy="no")
Trainer(model, options, train_dataset=Rows()).train()
"""


CPP = r"""
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                  \
  do {                                                                                                               \
    cudaError_t err = (call);                                                                                        \
    if (err != cudaSuccess) {                                                                                        \
      fprintf(stderr, "CUDA error at %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));                     \
      exit(EXIT_FAILURE);                                                                                            \
    }                                                                                                                \
  } while (0)

__global__ void update(float* weights, int count) {
  int place = blockIdx.x * blockDim.x + threadIdx.x;
  BODY
}

int main() {
  float* weights;
  int count = 1 << 20;
  CHECK(cudaMalloc(&weights, SIZE));
  for (int step = 1; step <= 30; ++step) {
    update<<<(count + 255) / 256, 256>>>(weights, step == 25 ? count : 0);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    printf("step %d/1000 loss %.4f 1.25 ms/step\n", step, 2.0 / step);
    fflush(stdout);
  }
  printf("done\n");
}
"""


def cpp(name: str, body: str, truth: Truth, size: str = "count * sizeof(float)", flags: str = "-arch=native") -> Case:
    source = CPP.replace("BODY", body).replace("SIZE", size)
    run = f"/usr/local/cuda/bin/nvcc {flags} -o fit fit.cu && ./fit"
    return Case(name, run, truth, {"fit.cu": source.lstrip()}, environment="cuda", seconds=120)
