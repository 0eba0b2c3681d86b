"""Metadata records, embedded by a real model."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from processors.advise.past import MemoryHistory, PastJob, SubmittedJob
from processors.advise.past.embedding import Embed, by_model, record_vector
from processors.advise.past.similar_jobs import MemorySimilarJobs
from processors.classify.onnx import OnnxEmbedder
from schedmate_records import Workload

GPT2 = Workload(
    model_name="GPT-2", task_type="language-modeling", dataset_train="OpenWebText", iters=90, iter_type="epoch"
)


def job(workload: Workload | None, name: str = "new") -> SubmittedJob:
    return SubmittedJob(job=name, command=f"run {name}", directory=f"/{name}/{name}", workload=workload)


@pytest.fixture(scope="module")
def embed(minilm_directory: Path) -> Embed:
    return by_model(OnnxEmbedder(minilm_directory).embed)


def test_another_spelling_is_alike_which_the_words_alone_do_not_show(embed: Embed) -> None:
    spelled = msgspec.structs.replace(GPT2, model_name="gpt2-medium", dataset_train="openwebtext")
    other = Workload(model_name="ResNet-50", task_type="image-classification", dataset_train="ImageNet", iters=90)
    past = [PastJob(about=job(each, name), ended=1.0, duration_s=60.0) for name, each in (("a", spelled), ("b", other))]
    found = {}
    for name, way in (("model", embed), ("words", record_vector)):
        history = MemoryHistory(records=MemorySimilarJobs(way))
        for each in past:
            history.add(each)
        found[name] = [near.about.job for near, _ in history.similar(job(GPT2), 3, 0.9)]
    assert found == {"model": ["a"], "words": []}


def test_numbers_order_the_jobs_alike_and_no_more(embed: Embed) -> None:
    asked, near, far = (
        embed(job(msgspec.structs.replace(GPT2, iters=iters, batch_size=batch)))
        for iters, batch in ((90, 256), (100, 256), (3, 8))
    )
    assert asked is not None
    assert near is not None
    assert far is not None
    assert np.linalg.norm(asked) == pytest.approx(1.0, abs=1e-5)
    assert 0.99 < asked @ far < asked @ near


def test_a_record_that_says_too_little_has_no_vector(embed: Embed) -> None:
    assert embed(job(None)) is None
    assert embed(job(Workload(model_name="vit"))) is None
