-- A value too large for a dead letter is cut: its size and checksum are kept beside it.

ALTER TABLE dead_letters
    ADD COLUMN IF NOT EXISTS size Int64 CODEC(ZSTD(1)) COMMENT 'bytes of the whole value' AFTER value,
    ADD COLUMN IF NOT EXISTS sha256 String CODEC(ZSTD(1)) COMMENT 'of the whole value, in hexadecimal' AFTER size,
    ADD COLUMN IF NOT EXISTS truncated Bool COMMENT 'key or value are cut' AFTER sha256;
