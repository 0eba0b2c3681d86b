-- How sure a slowdown is, and what became of the job's speed once the two were parted; null in rows of before.

ALTER TABLE slowdowns ADD COLUMN IF NOT EXISTS confidence Nullable(Float64) AFTER threshold;
ALTER TABLE slowdowns ADD COLUMN IF NOT EXISTS recovered Nullable(Float64) AFTER confidence;
