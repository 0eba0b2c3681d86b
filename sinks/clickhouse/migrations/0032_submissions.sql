-- What a job asks for, known at its submission; and which trained model made an estimate.

ALTER TABLE job_events
    ADD COLUMN IF NOT EXISTS name String CODEC(ZSTD(3)) AFTER branch,
    ADD COLUMN IF NOT EXISTS partition LowCardinality(String) AFTER name,
    ADD COLUMN IF NOT EXISTS account LowCardinality(String) AFTER partition,
    ADD COLUMN IF NOT EXISTS node_count Nullable(Int64) AFTER account,
    ADD COLUMN IF NOT EXISTS cpus Nullable(Float64) AFTER node_count,
    ADD COLUMN IF NOT EXISTS memory_gib Nullable(Float64) AFTER cpus,
    ADD COLUMN IF NOT EXISTS time_limit_s Nullable(Float64) AFTER memory_gib;

ALTER TABLE estimates ADD COLUMN IF NOT EXISTS model LowCardinality(String) COMMENT 'version of the trained model that answered' AFTER method;
