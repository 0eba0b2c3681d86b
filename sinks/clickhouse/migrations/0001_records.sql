-- One table a topic. Every row names the message that it came from (src_topic, src_partition, src_offset) and carries its
-- record's id. `stored` is when the row arrived: rows are kept for so many days after that (see retention.py), whatever the
-- clocks of the jobs say, and one insert always lands in one partition, so that it is whole or not there.
-- ReplacingMergeTree is the backstop for the writer, which drops what is there already.

CREATE TABLE IF NOT EXISTS job_metrics
(
    id            String CODEC(ZSTD(3)),
    job           String CODEC(ZSTD(1)),
    attempt       Int64 CODEC(T64, ZSTD(1)),
    node          LowCardinality(String),
    rank          Int64 CODEC(T64, ZSTD(1)),
    time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    step          Nullable(Int64) CODEC(Delta, ZSTD(1)),
    epoch         Nullable(Float32) CODEC(ZSTD(1)),
    step_time_s   Nullable(Float32) CODEC(ZSTD(1)),
    throughput    Nullable(Float32) CODEC(ZSTD(1)),
    throughput_unit LowCardinality(Nullable(String)),
    loss          Nullable(Float32) CODEC(ZSTD(1)),
    confidence    Float32 CODEC(ZSTD(1)),
    method        LowCardinality(String),
    reports       Int64 CODEC(T64, ZSTD(1)),
    since         Nullable(DateTime64(6, 'UTC')) CODEC(Delta, ZSTD(1)),
    since_step    Nullable(Int64) CODEC(Delta, ZSTD(1)),
    evidence      String CODEC(ZSTD(3)) COMMENT 'JSON array of records.Evidence',
    src_topic     LowCardinality(String),
    src_partition Int32 CODEC(T64, ZSTD(1)),
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
PRIMARY KEY (job, rank, time)
ORDER BY (job, rank, time, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS failures
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    revision      Int64,
    time          DateTime64(6, 'UTC'),
    node          LowCardinality(String),
    rank          Nullable(Int64),
    message       String CODEC(ZSTD(3)),
    error_type    LowCardinality(String),
    faulty_component LowCardinality(String),
    restartable   Nullable(Bool),
    confidence    Float64,
    source        LowCardinality(String),
    signature     LowCardinality(String),
    final         Bool,
    exit_code     Nullable(Int64),
    signal        Nullable(Int64),
    root_topic    LowCardinality(String) COMMENT 'place of the root line; empty where there is none',
    root_partition Nullable(Int64),
    root_offset   Nullable(Int64),
    root_line     Nullable(Int64),
    root_text     String CODEC(ZSTD(3)),
    evidence      String CODEC(ZSTD(3)) COMMENT 'JSON array of records.Evidence',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, attempt, revision, id)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS slowdowns
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    packed_job    String,
    node          LowCardinality(String),
    time          DateTime64(6, 'UTC'),
    before_s      Float64,
    after_s       Float64,
    ratio         Float64,
    threshold     Float64,
    steps_after   Int64,
    evidence      String CODEC(ZSTD(3)) COMMENT 'JSON array of records.Evidence',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS gpu_metrics
(
    id            String CODEC(ZSTD(3)),
    node          String CODEC(ZSTD(1)),
    gpu           Int64 CODEC(T64, ZSTD(1)),
    uuid          LowCardinality(String),
    name          LowCardinality(String),
    time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    utilisation   Nullable(Int64) CODEC(T64, ZSTD(1)),
    memory_used_bytes Nullable(Int64) CODEC(Delta, ZSTD(1)),
    memory_total_bytes Nullable(Int64) CODEC(Delta, ZSTD(1)),
    power_watts   Nullable(Float32) CODEC(ZSTD(1)),
    temperature_c Nullable(Int64) CODEC(T64, ZSTD(1)),
    sm_clock_mhz  Nullable(Int64) CODEC(T64, ZSTD(1)),
    memory_clock_mhz Nullable(Int64) CODEC(T64, ZSTD(1)),
    throttle_reasons Array(LowCardinality(String)) COMMENT 'empty also where the GPU does not report them',
    ecc_corrected Nullable(Int64) CODEC(Delta, ZSTD(1)),
    ecc_uncorrected Nullable(Int64) CODEC(Delta, ZSTD(1)),
    rows_remapped Nullable(Int64) CODEC(Delta, ZSTD(1)),
    nvlink_errors Nullable(Int64) CODEC(Delta, ZSTD(1)),
    nvlink_active Nullable(Int64) CODEC(T64, ZSTD(1)),
    xids          Array(Int64),
    jobs          Array(String) COMMENT 'jobs of the processes on the GPU, where their environment says so',
    processes     String CODEC(ZSTD(3)) COMMENT 'JSON array of records.GpuProcess',
    recorded      Bool,
    error         LowCardinality(String),
    src_topic     LowCardinality(String),
    src_partition Int32 CODEC(T64, ZSTD(1)),
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
PRIMARY KEY (node, gpu, time)
ORDER BY (node, gpu, time, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS job_events
(
    id            String CODEC(ZSTD(3)),
    job           String,
    attempt       Int64,
    kind          LowCardinality(String),
    time          DateTime64(6, 'UTC'),
    scheduler     LowCardinality(String),
    nodes         Array(LowCardinality(String)),
    gpus          Nullable(Float64),
    command       String CODEC(ZSTD(3)),
    directory     String CODEC(ZSTD(3)),
    user          LowCardinality(String),
    branch        LowCardinality(String),
    exit_code     Nullable(Int64),
    signal        Nullable(Int64),
    state         LowCardinality(String),
    packed_with   String,
    newcomer      Bool,
    lines         Int64,
    detail        String CODEC(ZSTD(3)),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS estimates
(
    id            String CODEC(ZSTD(3)),
    job           String,
    time          DateTime64(6, 'UTC'),
    duration_s    Nullable(Float64),
    duration_low_s Nullable(Float64),
    duration_high_s Nullable(Float64),
    gpu_utilisation Nullable(Float64),
    similar_jobs  Array(String),
    method        LowCardinality(String),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS decisions
(
    id            String CODEC(ZSTD(3)),
    action        LowCardinality(String),
    job           String,
    attempt       Int64,
    time          DateTime64(6, 'UTC'),
    expires       DateTime64(6, 'UTC'),
    mode          LowCardinality(String),
    policy        LowCardinality(String),
    reason        String CODEC(ZSTD(3)),
    cause         LowCardinality(String),
    cause_id      String CODEC(ZSTD(3)),
    exclude_nodes Array(LowCardinality(String)),
    beneficiary   String,
    evidence      String CODEC(ZSTD(3)) COMMENT 'JSON array of records.Evidence',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS decision_results
(
    id            String CODEC(ZSTD(3)),
    decision_id   String CODEC(ZSTD(3)),
    action        LowCardinality(String),
    job           String,
    attempt       Int64,
    cause         LowCardinality(String),
    node          LowCardinality(String),
    time          DateTime64(6, 'UTC'),
    outcome       LowCardinality(String),
    detail        String CODEC(ZSTD(3)),
    seen          Map(LowCardinality(String), String),
    actuator      LowCardinality(String),
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job, id)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS dead_letters
(
    id            String CODEC(ZSTD(3)),
    topic         LowCardinality(String),
    partition     Int64,
    offset        Int64 CODEC(Delta, ZSTD(1)),
    time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    reason        String CODEC(ZSTD(3)),
    stage         LowCardinality(String),
    key           Nullable(String) CODEC(ZSTD(3)) COMMENT 'bytes',
    value         String CODEC(ZSTD(3)) COMMENT 'bytes, whole',
    src_topic     LowCardinality(String),
    src_partition Int32,
    src_offset    Int64 CODEC(Delta, ZSTD(1)),
    stored        DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
PRIMARY KEY (topic, partition, time)
ORDER BY (topic, partition, time, id)
SETTINGS non_replicated_deduplication_window = 1000;
