-- Verdicts on failed attempts, answers of language models, and corrections by people.

CREATE TABLE IF NOT EXISTS failures
(
    id             String CODEC(ZSTD(3)),
    job            String,
    attempt        Int64,
    incarnation    String CODEC(ZSTD(1)),
    revision       Int64,
    time           DateTime64(6, 'UTC'),
    node           LowCardinality(String),
    node_evidence  Bool,
    drain          Nullable(Bool),
    recovery_action LowCardinality(String),
    rank           Nullable(Int64),
    message        String CODEC(ZSTD(3)),
    summary        String CODEC(ZSTD(3)),
    error_type     LowCardinality(String),
    faulty_component LowCardinality(String),
    restartable    Nullable(Bool),
    confidence     Float64,
    source         LowCardinality(String),
    confirmed_by   Array(LowCardinality(String)) COMMENT 'evidence of nodes: node-logs, gpu-metrics',
    contradicted_by Array(LowCardinality(String)) COMMENT 'evidence of nodes: node-logs, gpu-metrics',
    signature      LowCardinality(String),
    final          Bool,
    exit_code      Nullable(Int64),
    signal         Nullable(Int64),
    step           Nullable(Int64),
    epoch          Nullable(Float64),
    root_topic     LowCardinality(String) COMMENT 'place of the root line; empty where there is none',
    root_partition Nullable(Int64),
    root_offset    Nullable(Int64),
    root_line      Nullable(Int64),
    root_text      String CODEC(ZSTD(3)),
    evidence       String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.Evidence',
    opinions       String CODEC(ZSTD(3)),
    src_topic      LowCardinality(String),
    src_partition  Int32,
    src_offset     Int64 CODEC(Delta, ZSTD(1)),
    stored         DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, attempt, revision, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- The current verdict on each attempt: the highest revision. A replay in another order can make two of one revision; the one with the
-- higher confidence counts. Verdicts that were withdrawn are left out.
CREATE VIEW IF NOT EXISTS verdicts AS
SELECT *
FROM
(
    SELECT * FROM failures
    ORDER BY job, attempt, incarnation, revision DESC, confidence DESC, id
    LIMIT 1 BY job, attempt, incarnation
)
WHERE error_type != 'none';

-- Verdicts whose error type or signature changed. A change of the confidence or of the confirming evidence alone is none.
CREATE VIEW IF NOT EXISTS revised_verdicts AS
SELECT
    job,
    attempt,
    incarnation,
    uniqExact(revision) AS revisions,
    argMin(error_type, revision) AS first_error_type,
    argMin(signature, revision) AS first_signature,
    argMin(source, revision) AS first_source,
    argMax(error_type, revision) AS last_error_type,
    argMax(signature, revision) AS last_signature,
    argMax(source, revision) AS last_source,
    argMax(confirmed_by, revision) AS last_confirmed_by,
    argMax(contradicted_by, revision) AS last_contradicted_by,
    argMax(message, revision) AS last_message,
    max(time) AS last_time
FROM failures
GROUP BY job, attempt, incarnation
HAVING first_error_type != last_error_type OR first_signature != last_signature;

CREATE TABLE IF NOT EXISTS model_answers
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    incarnation   String CODEC(ZSTD(1)),
    about         String CODEC(ZSTD(3)) COMMENT 'id of the verdict that the question is about',
    revision      Int64,
    time          DateTime64(6, 'UTC'),
    model         LowCardinality(String),
    prompt        LowCardinality(String),
    failed        Nullable(Bool),
    error_type    LowCardinality(String) COMMENT 'empty where the model gave none',
    faulty_component LowCardinality(String),
    restartable   Nullable(Bool),
    certainty     LowCardinality(String),
    root_line     Nullable(Int64),
    summary       String CODEC(ZSTD(3)),
    lines         String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.Evidence',
    trusted       Bool DEFAULT true,
    node          LowCardinality(String),
    rank          Int64,
    stream        LowCardinality(String),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, attempt, about, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- Answers that name another error type than the verdict that they are about. Either may be wrong.
CREATE VIEW IF NOT EXISTS model_disagreements AS
SELECT
    a.id AS id,
    a.job AS job,
    a.attempt AS attempt,
    a.incarnation AS incarnation,
    a.time AS time,
    f.error_type AS verdict,
    f.confidence AS confidence,
    f.signature AS signature,
    f.message AS message,
    a.error_type AS said,
    a.faulty_component AS said_component,
    a.certainty AS certainty,
    a.root_line AS said_line,
    a.lines AS said_lines,
    a.model AS model
FROM model_answers AS a
INNER JOIN failures AS f ON f.job = a.job AND f.id = a.about AND f.revision = a.revision
WHERE a.error_type NOT IN ('', 'unknown', f.error_type) AND f.error_type != 'unknown'
LIMIT 1 BY a.id;

CREATE TABLE IF NOT EXISTS feedback
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    incarnation   String CODEC(ZSTD(1)),
    time          DateTime64(6, 'UTC'),
    user          LowCardinality(String),
    cause         LowCardinality(String),
    error_type    LowCardinality(String),
    component     LowCardinality(String),
    line          String CODEC(ZSTD(3)),
    verdict_id    String CODEC(ZSTD(3)),
    verdict       LowCardinality(String) COMMENT 'the cause that the verdict named',
    comment       String CODEC(ZSTD(3)),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- The newest correction of each attempt.
CREATE VIEW IF NOT EXISTS corrections AS
SELECT *
FROM
(
    SELECT * FROM feedback
    ORDER BY job, attempt, incarnation, time DESC, id
    LIMIT 1 BY job, attempt, incarnation
);
