-- Slurm's id of one run of a job (SLUID), by which control groups and the kernel's log name it since 26.05.

ALTER TABLE job_events
    ADD COLUMN IF NOT EXISTS sluid String COMMENT 'id of this run of the job in Slurm' CODEC(ZSTD(3)) AFTER detail;
