"""The words of lines about checkpoints. They are those of English, not of any framework."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SAVING = _words("saving writing storing dumping snapshotting serializing serialising persisting")
SAVE = _words("save write store dump persist")
SAVED = _words("saved wrote written stored dumped persisted serialized serialised")
OF_ANYTHING = (SAVING | SAVE | SAVED) - _words("saving save saved snapshotting")
"""What is done with much else: drivers dump states, parameters are stored as float16. A model is saved so where a path is named."""
COMPLETE = _words(
    "complete completed completes done finished finishes ready finalized finalised committed created successful succeeded"
)
"""What a checkpoint or a save is once it is over."""
FINISHED = _words("finished finish finishes done completed complete completes after")
"""Before `saving`: it is over."""
SPENT = _words("took taken spent elapsed")
"""With `save`: how long it took."""
BEGINS = _words(
    "preparing starting start started begin begins beginning began now going about scheduled async asynchronous"
)
"""Before `save` or `to save`: it begins."""

CALLS = _words("save_checkpoint checkpoint_save save-checkpoint")
"""Functions whose name means a save."""
CHECKPOINT = _words("checkpoint checkpoints check-point ckpt ckpts chkpt snapshot")
"""Words that mean a checkpoint in each line about a save."""
SEVERAL = _words("checkpoints ckpts")
MODEL = _words(
    "model models weights weight params parameters state states optimizer optim network net agent policy solver"
)
"""Words that mean a checkpoint unless the line names something else that is saved."""
HELD = _words("params optimizer optim state")
"""Of these, what no folder is called."""
SHARDS = _words("shard shards")
"""With those: files of a checkpoint, whatever is done with them."""
NOT_IT = _words("""
    archive arguments args audio cache caches callback callbacks chart code config configs configuration curve curves data
    dataset datasets dict dir directory document documents embeddings features figure figures folder format frequency graph handler history
    hook hyperparameters image images index indices info information interval log logging logs manager merges metadata metric metrics
    options output outputs path period plot plots prediction predictions profile report reports result results sample samples scheduler
    schedulers script settings statistics stats steps strategy summaries summary table tables token tokenizer tokenizers tokens trace
    traces transcript transcripts version video videos visualisation visualization vocab vocabulary
""")
"""As the last word of what is saved: it is something else."""

NOT = _words("""
    disable disabled disables disabling didn't doesn't don't ignoring never no not nothing skip skipped skipping skips without won't
""")
WILL = _words("can each every how if may might must once shall should unless until when whenever whether will would")
"""Words of statements about when or whether saves happen."""
PLANS = _words("every when if")
"""So wherever they stand."""
FAILED = _words("""
    aborted aborting can't cannot couldn't error errors exception fail failed failing fails failure failures interrupted timeout unable
""")
OTHER_DEEDS = _words("""
    calling clean cleaning compare comparing continue continued continuing convert converting delete deleted deletes deleting download
    downloaded downloading evaluate evaluating find found import imported initialize initialized initializing keep keeping kept load
    loaded loading loads prune pruned pruning read reading reload reloaded reloading remove removed removes removing restore restored
    restores restoring resume resumed resumes resuming using validate validating
""")
"""What else is done with checkpoints."""
BEFORE_A_NAME = _words("""
    a about all an any before best by during existing for from last latest of old on previous previously since the via while with without
""")
"""Before `saving` or `saved`: it is a noun or a past thing, not a report."""
TO = _words("to in into at as under for on with from path is are was were has have been being successfully")
"""Words that end the object of a save."""
RENAMES = _words("renaming renamed rename moving moved")
TRACKS = _words("updating updated update writing wrote written write")
NEWEST = _words("latest tracker")
ASYNCHRONOUS = _words(
    "async asynchronous asynchronously background non-blocking scheduled enqueued queued staging staged"
)
SETTING = _words("true false none null yes enabled")
"""At the end of a line: it echoes a setting."""
NO_PATH = _words("""
    a an avoid be best binary continue cpu dir directory disk epoch epochs file files folder go gpu hub iteration memory path step the
""")
"""After `to`: it is not where something is saved."""

ENDINGS = _words("""
    bin caffemodel ckpt distcp h5 hdf5 keras mdl model msgpack npz orbax params pdopt pdparams pickle pkl pt pth safetensors solverstate tar
    th weights zip
""")
"""Of files that hold checkpoints."""
OTHER_ENDINGS = _words("""
    arrow csv db err gif html ini jpeg jpg json jsonl log md mp4 npy onnx out parquet pdf png py sh sqlite svg toml tsv txt wav xml yaml yml
""")
"""Of files that do not."""
