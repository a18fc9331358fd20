-- Schema version 9, as migration 0009_models leaves it. Never edit it: databases of this version are out there.
PRAGMA application_id = 1413827653;
PRAGMA user_version = 9;

CREATE TABLE dataset (
  dataset_id BLOB NOT NULL CHECK (length(dataset_id) = 16),
  created_unix_us INTEGER NOT NULL
) STRICT;

CREATE TABLE kernels (
  kernel INTEGER PRIMARY KEY,
  kernel_id TEXT,
  name TEXT,
  source TEXT,
  content_sha256 BLOB NOT NULL UNIQUE
) STRICT;

CREATE INDEX kernels_by_name ON kernels (name);

CREATE TABLE run_settings (
  run INTEGER NOT NULL REFERENCES runs,
  settings_json TEXT NOT NULL,
  PRIMARY KEY (run, settings_json)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
  attempt INTEGER PRIMARY KEY AUTOINCREMENT,
  attempt_id BLOB NOT NULL UNIQUE CHECK (length(attempt_id) = 16),
  run INTEGER NOT NULL REFERENCES runs,
  origin TEXT NOT NULL,
  dialect TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('unspecified', 'open', 'complete', 'abandoned')),
  provisional INTEGER NOT NULL CHECK (provisional IN (0, 1)),
  started_unix_us INTEGER,
  search_algorithm TEXT,
  seed INTEGER,
  environment_json TEXT,
  counters_json TEXT,
  first_received_unix_us INTEGER NOT NULL
, sender INTEGER REFERENCES senders, is_run_unknown INTEGER NOT NULL DEFAULT 0 CHECK (is_run_unknown IN (0, 1))) STRICT;

CREATE INDEX attempts_by_run ON attempts (run, attempt_id);

CREATE TABLE config_arguments (
  argument INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE key_lists (
  key_list INTEGER PRIMARY KEY,
  keys_json TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE statuses (
  status INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE measurements (
  attempt INTEGER NOT NULL REFERENCES attempts,
  seq INTEGER NOT NULL,
  timestamp_s REAL NOT NULL,
  generation INTEGER NOT NULL,
  status INTEGER NOT NULL REFERENCES statuses,
  perf_ms REAL,
  compile_time_s REAL,
  config INTEGER NOT NULL REFERENCES configs,
  failure TEXT,
  PRIMARY KEY (attempt, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE source_hashes (
  attempt INTEGER NOT NULL REFERENCES attempts,
  seq INTEGER NOT NULL,
  source_hash BLOB NOT NULL,
  PRIMARY KEY (attempt, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE ir_graphs (
  ir_graph INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  kind TEXT NOT NULL,
  schema_version INTEGER,
  directed INTEGER NOT NULL CHECK (directed IN (0, 1)),
  multigraph INTEGER NOT NULL CHECK (multigraph IN (0, 1)),
  attributes_json TEXT NOT NULL,
  extra_json TEXT NOT NULL,
  content_sha256 BLOB NOT NULL, sender INTEGER REFERENCES senders,
  UNIQUE (run, kind)
) STRICT;

CREATE TABLE rejects (
  reject INTEGER PRIMARY KEY,
  content_sha256 BLOB NOT NULL UNIQUE,
  reason TEXT NOT NULL,
  message TEXT NOT NULL,
  source TEXT NOT NULL,
  line INTEGER NOT NULL,
  raw BLOB NOT NULL,
  origin TEXT NOT NULL,
  producer_id BLOB NOT NULL,
  received_unix_us INTEGER NOT NULL
) STRICT;

CREATE TABLE producers (
  producer_id BLOB PRIMARY KEY CHECK (length(producer_id) = 16),
  epoch INTEGER NOT NULL,
  committed_seq INTEGER NOT NULL,
  client TEXT NOT NULL,
  first_opened_unix_us INTEGER NOT NULL,
  last_opened_unix_us INTEGER NOT NULL
, sender INTEGER REFERENCES senders) STRICT, WITHOUT ROWID;

CREATE TABLE senders (
  sender INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE served_time (
  served_us INTEGER PRIMARY KEY CHECK (served_us > 0),
  newest_attempt INTEGER NOT NULL,
  newest_reject INTEGER NOT NULL
) STRICT;

CREATE TABLE "runs" (
  run INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL CHECK (length(run_id) = 64),
  kernel INTEGER REFERENCES kernels,
  input_shapes TEXT,
  dtypes TEXT,
  hardware TEXT,
  settings_signature TEXT,
  extra_json TEXT,
  sender INTEGER NOT NULL DEFAULT 0,
  UNIQUE (run_id, sender)
) STRICT;

CREATE INDEX runs_by_kernel ON runs (kernel);

CREATE TABLE "configs" (
  config INTEGER PRIMARY KEY,
  config_id INTEGER NOT NULL CHECK (config_id <> 0),
  arguments TEXT,
  unsplit_text TEXT,
  sender INTEGER NOT NULL DEFAULT 0,
  UNIQUE (config_id, sender),
  CHECK (arguments IS NULL OR unsplit_text IS NULL)
) STRICT;

CREATE VIEW config_texts (config, config_id, text) AS
SELECT
  c.config,
  printf('%016x', c.config_id),
  CASE
    WHEN c.arguments IS NULL THEN c.unsplit_text
    ELSE 'Config(' || (
      SELECT group_concat(piece, ', ')
      FROM (
        SELECT a.text AS piece
        FROM json_each(c.arguments) AS position
        CROSS JOIN config_arguments AS a ON a.argument = position.value
        ORDER BY position.key
      )
    ) || ')'
  END
FROM configs AS c;

CREATE TABLE attempt_events (
  attempt INTEGER NOT NULL REFERENCES attempts,
  seq INTEGER NOT NULL,
  time_unix_us INTEGER,
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (attempt, seq)
) STRICT;

CREATE TABLE cache_senders (
  cache_sender INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  size_bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE cache_entries (
  cache_entry INTEGER PRIMARY KEY,
  cache_sender INTEGER NOT NULL REFERENCES cache_senders,
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  stored_unix_us INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  attempt_id BLOB CHECK (length(attempt_id) = 16),
  hardware TEXT,
  versions_json TEXT,
  value BLOB NOT NULL,
  UNIQUE (namespace, key, cache_sender)
) STRICT;

CREATE INDEX cache_entries_by_sender ON cache_entries (cache_sender, cache_entry);

CREATE TABLE long_failures (
  attempt INTEGER NOT NULL REFERENCES attempts,
  seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (attempt, seq)
) STRICT;

CREATE VIEW whole_measurements (
  attempt, seq, timestamp_s, generation, status, perf_ms, compile_time_s, config, failure
) AS
SELECT
  m.attempt,
  m.seq,
  m.timestamp_s,
  m.generation,
  m.status,
  m.perf_ms,
  m.compile_time_s,
  m.config,
  CASE
    WHEN m.failure = '' THEN (SELECT f.text FROM long_failures AS f WHERE f.attempt = m.attempt AND f.seq = m.seq)
    ELSE m.failure
  END
FROM measurements AS m;

CREATE TABLE "superseded_attempts" (
  attempt_id BLOB NOT NULL CHECK (length(attempt_id) = 16),
  superseded_by BLOB NOT NULL CHECK (length(superseded_by) = 16),
  run INTEGER NOT NULL REFERENCES runs,
  origin TEXT NOT NULL,
  sender INTEGER REFERENCES senders,
  PRIMARY KEY (attempt_id, superseded_by)
) STRICT;

CREATE TABLE "run_configs" (
  run INTEGER NOT NULL REFERENCES runs,
  config INTEGER NOT NULL REFERENCES configs,
  key_list INTEGER REFERENCES key_lists,
  sample_id BLOB CHECK (length(sample_id) = 32),
  decorator TEXT,
  sender INTEGER REFERENCES senders,
  PRIMARY KEY (run, config)
) STRICT;

CREATE TABLE "measurement_details" (
  attempt INTEGER NOT NULL REFERENCES attempts,
  seq INTEGER NOT NULL,
  stage TEXT NOT NULL CHECK (stage IN ('unspecified', 'screening', 'search', 'final', 'rebenchmark')),
  tied_with_best INTEGER CHECK (tied_with_best IN (0, 1)),
  samples_ms_json TEXT,
  throttled_samples INTEGER,
  registers INTEGER,
  spill_bytes INTEGER,
  shared_bytes INTEGER,
  occupancy REAL,
  binary_bytes INTEGER,
  worst_absolute_error REAL,
  worst_relative_error REAL,
  sm_clock_mhz REAL,
  time_unix_us INTEGER,
  exact_perf_ms REAL,
  PRIMARY KEY (attempt, seq)
) STRICT;

CREATE TABLE "ir_nodes" (
  ir_graph INTEGER NOT NULL REFERENCES ir_graphs,
  ordinal INTEGER NOT NULL,
  id TEXT NOT NULL,
  graph_id INTEGER NOT NULL,
  region_kind TEXT,
  block_ids_json TEXT,
  op_kind TEXT,
  target TEXT,
  lowering_class TEXT,
  dtype TEXT,
  shape_json TEXT,
  concrete_shape_json TEXT,
  stride_json TEXT,
  concrete_stride_json TEXT,
  device TEXT,
  value_json TEXT,
  input_dtypes_json TEXT,
  input_shapes_json TEXT,
  reduction_type TEXT,
  reduction_ranges_json TEXT,
  pointwise_ranges_json TEXT,
  source_loc TEXT,
  omitted_json TEXT,
  extra_json TEXT NOT NULL,
  PRIMARY KEY (ir_graph, ordinal)
) STRICT;

CREATE TABLE "ir_edges" (
  ir_graph INTEGER NOT NULL REFERENCES ir_graphs,
  ordinal INTEGER NOT NULL,
  source TEXT NOT NULL,
  target TEXT NOT NULL,
  edge_kind TEXT,
  arg_positions_json TEXT,
  dtype TEXT,
  shape_json TEXT,
  omitted_json TEXT,
  extra_json TEXT NOT NULL,
  PRIMARY KEY (ir_graph, ordinal)
) STRICT;

CREATE VIEW measurement_rows (
  run_id, kernel_name, attempt_id, seq, timestamp_s, generation, status, perf_ms, compile_time_s, config_id, config, failure
) AS
SELECT
  r.run_id,
  k.name,
  lower(hex(a.attempt_id)),
  m.seq,
  m.timestamp_s,
  m.generation,
  s.name,
  m.perf_ms,
  m.compile_time_s,
  t.config_id,
  t.text,
  m.failure
FROM whole_measurements AS m
JOIN attempts AS a ON a.attempt = m.attempt
JOIN runs AS r ON r.run = a.run
LEFT JOIN kernels AS k ON k.kernel = r.kernel
JOIN statuses AS s ON s.status = m.status
JOIN config_texts AS t ON t.config = m.config;

CREATE VIEW best_config_per_run (
  run_id, kernel_name, input_shapes, dtypes, hardware, perf_ms, attempt_id, seq, config_id, config
) AS
WITH ranked AS (
  SELECT
    a.run, a.attempt_id, m.seq, m.perf_ms, m.config,
    row_number() OVER (PARTITION BY a.run ORDER BY d.stage IS NOT 'final', m.perf_ms, a.attempt_id, m.seq) AS place
  FROM measurements AS m
  JOIN attempts AS a ON a.attempt = m.attempt
  LEFT JOIN measurement_details AS d ON d.attempt = m.attempt AND d.seq = m.seq
  WHERE m.perf_ms IS NOT NULL AND m.status = (SELECT status FROM statuses WHERE name = 'ok')
    AND d.stage IS NOT 'screening'
)
SELECT
  r.run_id, k.name, r.input_shapes, r.dtypes, r.hardware, b.perf_ms, lower(hex(b.attempt_id)), b.seq, t.config_id, t.text
FROM ranked AS b
JOIN runs AS r ON r.run = b.run
LEFT JOIN kernels AS k ON k.kernel = r.kernel
JOIN config_texts AS t ON t.config = b.config
WHERE b.place = 1;

CREATE VIEW run_summary (
  run_id, kernel_name, input_shapes, dtypes, hardware, attempts, measurements, configs, best_perf_ms
) AS
SELECT
  r.run_id, k.name, r.input_shapes, r.dtypes, r.hardware,
  count(DISTINCT a.attempt),
  count(m.seq),
  count(DISTINCT m.config),
  coalesce(
    min(m.perf_ms) FILTER (WHERE m.status = (SELECT status FROM statuses WHERE name = 'ok') AND d.stage = 'final'),
    min(m.perf_ms) FILTER (
      WHERE m.status = (SELECT status FROM statuses WHERE name = 'ok') AND d.stage IS NOT 'screening'
    )
  )
FROM runs AS r
LEFT JOIN kernels AS k ON k.kernel = r.kernel
LEFT JOIN attempts AS a ON a.run = r.run
LEFT JOIN measurements AS m ON m.attempt = a.attempt
LEFT JOIN measurement_details AS d ON d.attempt = m.attempt AND d.seq = m.seq
GROUP BY r.run;

CREATE TABLE models (
  model INTEGER PRIMARY KEY,
  sender TEXT NOT NULL,
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  size_bytes INTEGER NOT NULL,
  received_parts INTEGER NOT NULL,
  -- Larger: stored later. This column and the next ones are NULL as long as parts are missing.
  stored_order INTEGER,
  stored_unix_us INTEGER,
  format_version INTEGER,
  feature_version INTEGER,
  provenance_json TEXT
) STRICT;

CREATE TABLE model_parts (
  model_part INTEGER PRIMARY KEY,
  model INTEGER NOT NULL REFERENCES models,
  part INTEGER NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (model, part)
) STRICT;
