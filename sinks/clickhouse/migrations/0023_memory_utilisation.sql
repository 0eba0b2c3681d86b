-- How much of the time a GPU's memory was busy: what tells a kernel that works from one that waits for ever.

ALTER TABLE gpu_metrics ADD COLUMN IF NOT EXISTS memory_utilisation Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER utilisation;
