-- What the lines of log formats mean, as models and people stated it. Questions about single templates are no longer asked.

CREATE TABLE IF NOT EXISTS formats
(
    id            String CODEC(ZSTD(3)),
    fingerprint   String,
    time          DateTime64(6, 'UTC'),
    author        LowCardinality(String) COMMENT 'the model, or the person',
    person        Bool,
    prompt        LowCardinality(String) COMMENT 'version of the prompt that a model answered',
    training      Bool COMMENT 'whether logs of the format report a training',
    templates     String CODEC(ZSTD(3)) COMMENT 'JSON array of records.TemplateFormat',
    forgotten     Bool COMMENT 'a person withdrew it',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
ORDER BY (fingerprint, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- The format in force for each fingerprint: the newest record, where nobody withdrew it.
CREATE VIEW IF NOT EXISTS known_formats AS
SELECT *
FROM (SELECT * FROM formats ORDER BY fingerprint, time DESC, id LIMIT 1 BY fingerprint)
WHERE NOT forgotten;

ALTER TABLE model_answers DROP COLUMN IF EXISTS numbers, DROP COLUMN IF EXISTS samples;
