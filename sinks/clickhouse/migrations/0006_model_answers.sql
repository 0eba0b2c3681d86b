-- What language models said about jobs, and where they disagree with a verdict.

CREATE TABLE IF NOT EXISTS model_answers
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    about         String CODEC(ZSTD(3)) COMMENT 'id of the verdict, or checksum of the template, that was asked about',
    revision      Int64,
    time          DateTime64(6, 'UTC'),
    model         LowCardinality(String),
    prompt        LowCardinality(String),
    error_type    LowCardinality(String) COMMENT 'empty for an answer about a template, like the four after it',
    faulty_component LowCardinality(String),
    restartable   Nullable(Bool),
    certainty     LowCardinality(String),
    root_line     Nullable(Int64),
    lines         String CODEC(ZSTD(3)) COMMENT 'JSON array of records.Evidence',
    numbers       String CODEC(ZSTD(3)) COMMENT 'JSON array of records.NumberMeaning',
    samples       String CODEC(ZSTD(3)) COMMENT 'JSON array of records.Sample',
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

-- One row an answer that names another error type than the verdict that it is about. Neither need be right.
CREATE VIEW IF NOT EXISTS model_disagreements AS
SELECT
    a.id AS id,
    a.job AS job,
    a.attempt AS attempt,
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

-- The verdict in force, as before; of two of one revision, which a replay in another order can make, the more certain one.
CREATE OR REPLACE VIEW verdicts AS
SELECT *
FROM (SELECT * FROM failures ORDER BY job, attempt, revision DESC, confidence DESC, id LIMIT 1 BY job, attempt)
WHERE error_type != 'none';
