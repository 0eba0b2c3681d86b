"""Which data a job trains on, and on which it is evaluated while it trains."""

from collections import Counter

from .data_names import GENERIC, SPLITS, best_name, names_of, registered, stem, unversioned
from .operations import settle
from .registry import TASKS, known, listed, plain, words
from .settings import Settings
from .steps import Training
from .trace import Call
from .values import Instance, OpenFile, Term, Value, walk

_SETTINGS = listed(
    """
    dataset datasetname data dataname dataset_name task taskname datasetid traindataset datapath dataroot
    datadir trainfile trainpath trainingfile inputtrainingfile traindata datafile rootpath corpus datasetpath
    datasetdir traindatapath traindir imgfolder root dataset_path trainset datasetnames datasets traindatadir
    inputfile manifestfilepath trainmanifest manifestpath datasource inputwavsdir traindatafile trainshards tfds
    builder trainlist trainroot datasettype trainfiles trainingfiles traindatasets pathsrc
    """
)
_SETTINGS_PLAIN = tuple(dict.fromkeys(plain(each) for each in (*_SETTINGS, "words")))
_ENVIRONMENTS = (
    "envid",
    "env",
    "envname",
    "environment",
    "environmentname",
    "gymid",
    "game",
    "domain",
    "scenario",
    "mapname",
    "domainname",
    "level",
)
_MAKERS = {
    "make",
    "make_vec",
    "make_vec_env",
    "make_atari_env",
    "create_environment",
    "load_environment",
    "suite_load",
    "make_atari",
}
_MADE_BY = ("dataset._component_", "dataset._target_", "dataset.class_path")
_KINDS = frozenset(
    listed("chat instruct instruction completion preference sft packed concat hf image vision multimodal")
)


def environment(training: Training, settings: Settings) -> str | None:
    """Return the environment of a reinforcement learning job; null where it is not known."""
    for call in training.trace.calls:
        if call.last in _MAKERS and ("gym" in call.name or "env" in call.name.lower() or call.last != "make"):
            name = settle(call.argument("id", "env_id", "env_name", place=0))
            if isinstance(name, str) and name:
                return name
    for each in settings.find(_ENVIRONMENTS):
        if isinstance(each.value, str) and each.value.strip() and (each.last.startswith("env") or not each.derived):
            return each.value
    return None


def train_data(training: Training, settings: Settings) -> str | None:
    """Return the data set that is trained on; null where evidence is thin."""
    if undecided := _alternatives(training):
        return next((each for each in undecided if _mentioned(each, training)), None)
    return _decided(training, settings)


def _decided(training: Training, settings: Settings) -> str | None:
    best = best_name(train_names(training))
    if best is not None and known("datasets", best):
        return best
    for each in settings.all:
        if each.name.lower().endswith(_MADE_BY) and isinstance(each.value, str):
            made = each.value.rpartition(".")[2]
            if known("datasets", made) or not set(words(made)) <= (GENERIC | _KINDS):
                return made
    if best is not None and (directory := _given_directory(training)) is not None:
        return directory
    stated = stated_name(settings, _SETTINGS_PLAIN, training.seen)
    if stated is not None and (known("datasets", stated) or best is None):
        return registered(stated)
    for each in settings.all:
        if each.name.lower() in {"datasets.train", "train_dataloader.dataset.type", "data.train.type"}:
            return best_name([value for value in walk(each.value, 10) if isinstance(value, str)])
    return best if best is not None else _anywhere(training)


def _place(call: Call, place: int) -> int | None:
    """Return a place among the arguments of transformers' trainers (model, args, collator, train, eval); null for others."""
    return place if any(each.startswith("transformers.") for each in (call.name, *call.bases)) else None


def evaluated_by(call: Call) -> Value:
    """Return what a trainer is given to evaluate on; null where that is nothing."""
    return call.argument(
        "eval_dataset",
        "val_dataset",
        "eval_dataloader",
        "eval_samples",
        "val_dataloader",
        "evaluator",
        place=_place(call, 4),
    )


def _alternatives(training: Training) -> list[str]:
    """Return the names of the data sets of which a run trains on one, where a condition that is not known decides."""
    for value in _train_values(training)[:1]:
        for each in walk(value, 60):
            if isinstance(each, Term) and each.kind == "choice":
                named = [best_name(list(names_of(part))) for part in each.parts]
                found = {plain(name): name for name in named if name is not None}
                if len(found) > 1:
                    return list(found.values())
    return []


def _mentioned(name: str, training: Training) -> bool:
    return any(plain(name) in plain(word) for word in training.trace.words)


def train_names(training: Training) -> list[str]:
    """Return names of what the training goes over, the most direct first."""
    return [name for value in _train_values(training) for name in names_of(value)]


def _given_directory(training: Training) -> str | None:
    """Return what tells the directory that the user gave and that the training reads from; null where it is none."""
    texts = [
        each.path if isinstance(each, OpenFile) else each
        for value in _train_values(training)
        for each in walk(value, 400)
        if isinstance(each, (str, OpenFile))
    ]
    for word in training.trace.words:
        directory = word.rpartition("=")[2].rstrip("/")
        below = [each.removeprefix(f"{directory}/") for each in texts if each.startswith(f"{directory}/")]
        if directory and below:
            inner, slash, _ = below[0].partition("/")
            return (stem(inner) if slash else None) or stem(directory)
    return None


def stated_name(settings: Settings, names: tuple[str, ...], seen: bool) -> str | None:
    """Return what settings of these names call the data; derived ones only where training was seen, or by known names."""
    found: list[str] = []
    set_by_user = {each.last for each in settings.all if not each.constant}
    for each in settings.find(names):
        if each.constant and each.last in set_by_user:
            continue  # a default that was replaced
        for value in walk(each.value, 10):
            if isinstance(value, str) and 1 < len(value) < 300 and "\n" not in value:
                value = unversioned(value)  # noqa: PLW2901  # the same value
                name = value if "/" not in value and known("datasets", value) else stem(value)
                if not known("datasets", value) and (each.last == "words" or (not seen and each.derived)):
                    continue
                if name is not None and value.lower() not in GENERIC and value.replace("_", "-") not in TASKS:
                    found.append(
                        value
                        if "/" in value
                        and not value.startswith((".", "/"))
                        and value.count("/") == 1
                        and "." not in value
                        else name
                    )
    registered = [each for each in found if known("datasets", each)]
    return next(iter(registered or found), None)


def _train_values(training: Training) -> list[Value]:
    """Return values that the training goes over, the most direct first."""
    found: list[Value] = []
    for call in training.trainers:
        found += [
            value
            for value in (
                call.argument("train_dataset", "train_dataloader", "train_data", "datamodule", place=_place(call, 3)),
            )
            if value is not None
        ]
    for run in training.runs:
        given = [
            each
            for each in (*run.call.arguments, *run.call.keywords.values())
            if not isinstance(each, (int, float, str))
        ]
        found += [value for value in given if value is not None]
    for call in training.trace.calls:  # fastai: a learner is made from its data, then the model
        if call.last.endswith(("_learner", "Learner")):
            found += [each for each in (call.argument("dls", place=0),) if isinstance(each, (Term, Instance))]
    for loop in training.loops:
        if loop.iterated is not None and isinstance(loop.iterated, (Term, Instance)):
            found.append(loop.iterated)
    for call in training.trace.calls:
        if training.inside(call) and isinstance(call.called, Instance):
            found += [each for each in call.arguments if isinstance(each, Term)]
    loaders = [
        each
        for each in training.trace.calls
        if each.last.endswith(("DataLoader", "Loader")) and not _is_class_of_model(each)
    ]
    found += [each.result for each in loaders if not names_split(each)] + [each.result for each in loaders]
    return found


def _is_class_of_model(call: Call) -> bool:
    return any(base.endswith("Module") for base in call.bases)


def names_split(call: Call) -> bool:
    """Whether a call stands in a function that is named after data held out."""
    return any(each in SPLITS for name in call.functions for each in words(name))


def _anywhere(training: Training) -> str | None:
    made = [
        call
        for call in training.trace.calls
        if "dataset" in call.last.lower()
        or call.last in {"load", "memmap", "open", "read_csv", "ImageFolder", "load_data", "loadtxt"}
    ]
    for call in made:
        best = best_name(list(names_of([call.result, *call.arguments, *call.keywords.values()])))
        if best is not None:
            return best
    return None


def documented(text: str) -> str | None:
    """Return the known data set that a description names most; null where there is none, or more than one as often."""
    prose = [each for each in text.splitlines() if not each.startswith(("    ", "\t", "$", "python", "bash"))]
    found = Counter(name.name for line in prose if (name := known("datasets", line)) is not None)
    best = found.most_common(2)
    return best[0][0] if best and (len(best) == 1 or best[0][1] > best[1][1]) else None


__all__ = ["documented", "environment", "evaluated_by", "names_split", "stated_name", "train_data", "train_names"]
