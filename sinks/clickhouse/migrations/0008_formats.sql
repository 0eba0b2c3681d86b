-- Log formats, as language models and people described them.

CREATE TABLE IF NOT EXISTS formats
(
    id            String CODEC(ZSTD(3)),
    fingerprint   String,
    time          DateTime64(6, 'UTC'),
    author        LowCardinality(String) COMMENT 'the model, or the person',
    person        Bool,
    prompt        LowCardinality(String) COMMENT 'version of the prompt that a model answered',
    training      Bool COMMENT 'whether logs of the format report a training',
    templates     String CODEC(ZSTD(3)) COMMENT 'JSON array of schedmate_records.TemplateFormat',
    forgotten     Bool COMMENT 'a person withdrew it',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
ORDER BY (fingerprint, id)
SETTINGS non_replicated_deduplication_window = 1000;

-- The current format of each fingerprint: the newest record, unless a person withdrew it.
CREATE VIEW IF NOT EXISTS known_formats AS
SELECT *
FROM (SELECT * FROM formats ORDER BY fingerprint, time DESC, id LIMIT 1 BY fingerprint)
WHERE NOT forgotten;
