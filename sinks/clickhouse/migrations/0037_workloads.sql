-- What a submitted job trains, as its source says: the metadata record, JSON; empty where nobody read it.

ALTER TABLE job_events ADD COLUMN IF NOT EXISTS workload String CODEC(ZSTD(3)) AFTER time_limit_s;
