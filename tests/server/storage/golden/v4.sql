-- Schema version 4, as migration 0004_served_time leaves it. Never edit it: databases of this version are out there.
PRAGMA application_id = 1413827653;
PRAGMA user_version = 4;

-- One row: which dataset this is.
CREATE TABLE dataset (
  dataset_id BLOB NOT NULL CHECK (length(dataset_id) = 16),
  created_unix_us INTEGER NOT NULL
) STRICT;

-- What a run executed, independent of shapes. Unique over its content, of which content_sha256 is a digest.
CREATE TABLE kernels (
  kernel INTEGER PRIMARY KEY,
  kernel_id TEXT,
  name TEXT,
  source TEXT,
  content_sha256 BLOB NOT NULL UNIQUE
) STRICT;

CREATE INDEX kernels_by_name ON kernels (name);

-- One kernel at one set of shapes, dtypes, hardware and settings. NULL: no record has said it (yet).
CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE CHECK (length(run_id) = 64),
  kernel INTEGER REFERENCES kernels,
  input_shapes TEXT,
  dtypes TEXT,
  hardware TEXT,
  settings_signature TEXT,
  extra_json TEXT
) STRICT;

CREATE INDEX runs_by_kernel ON runs (kernel);

-- Every distinct text of a run's settings; readers are given the smallest.
CREATE TABLE run_settings (
  run INTEGER NOT NULL REFERENCES runs,
  settings_json TEXT NOT NULL,
  PRIMARY KEY (run, settings_json)
) STRICT, WITHOUT ROWID;

-- One execution of a run. Keys are never used twice, so that a reader between two pages cannot mistake one for another.
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
, sender INTEGER REFERENCES senders) STRICT;

CREATE INDEX attempts_by_run ON attempts (run, attempt_id);

-- Provisional attempts that a longer view of the same execution replaced; they may not have come yet. They leave the
-- dataset, and stay away, when run and origin are those of the attempt that replaced them.
CREATE TABLE superseded_attempts (
  attempt_id BLOB NOT NULL CHECK (length(attempt_id) = 16),
  superseded_by BLOB NOT NULL CHECK (length(superseded_by) = 16),
  run INTEGER NOT NULL REFERENCES runs,
  origin TEXT NOT NULL, sender INTEGER REFERENCES senders,
  PRIMARY KEY (attempt_id, superseded_by)
) STRICT, WITHOUT ROWID;

-- Each distinct "key=value" of all configs.
CREATE TABLE config_arguments (
  argument INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- One point of a search space. config_id holds the 64 bits of the id: printf('%016x', config_id) prints it.
-- arguments: a JSON array of config_arguments keys, in the order of the text. A text that is no plain list of arguments
-- stands whole in unsplit_text. Both NULL: a row named the config, but its text has not come (yet).
CREATE TABLE configs (
  config INTEGER PRIMARY KEY,
  config_id INTEGER NOT NULL UNIQUE CHECK (config_id <> 0),
  arguments TEXT,
  unsplit_text TEXT,
  CHECK (arguments IS NULL OR unsplit_text IS NULL)
) STRICT;

-- The orders of keys in which sidecar records list their configs: JSON arrays of strings.
CREATE TABLE key_lists (
  key_list INTEGER PRIMARY KEY,
  keys_json TEXT NOT NULL UNIQUE
) STRICT;

-- What a run, and not the config alone, determines of a config.
CREATE TABLE run_configs (
  run INTEGER NOT NULL REFERENCES runs,
  config INTEGER NOT NULL REFERENCES configs,
  key_list INTEGER REFERENCES key_lists,
  sample_id BLOB CHECK (length(sample_id) = 32),
  decorator TEXT, sender INTEGER REFERENCES senders,
  PRIMARY KEY (run, config)
) STRICT, WITHOUT ROWID;

CREATE TABLE statuses (
  status INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- One row: one event of one config in one attempt. failure: a JSON object, only where more is known than the status.
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

-- The hash of the generated source that a row's config compiled from; lower(hex(source_hash)) prints it.
CREATE TABLE source_hashes (
  attempt INTEGER NOT NULL REFERENCES attempts,
  seq INTEGER NOT NULL,
  source_hash BLOB NOT NULL,
  PRIMARY KEY (attempt, seq)
) STRICT, WITHOUT ROWID;

-- A kernel's IR, once per run and kind: of several, the one with the smallest content_sha256.
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

-- omitted_json: which known keys the record did not have at all (a JSON array), as opposed to keys that were null.
CREATE TABLE ir_nodes (
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
) STRICT, WITHOUT ROWID;

CREATE TABLE ir_edges (
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
) STRICT, WITHOUT ROWID;

-- Everything that was refused, once per content (content_sha256: over reason, message, source, line, raw and origin).
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

-- How far each producer's log is stored.
CREATE TABLE producers (
  producer_id BLOB PRIMARY KEY CHECK (length(producer_id) = 16),
  epoch INTEGER NOT NULL,
  committed_seq INTEGER NOT NULL,
  client TEXT NOT NULL,
  first_opened_unix_us INTEGER NOT NULL,
  last_opened_unix_us INTEGER NOT NULL
, sender INTEGER REFERENCES senders) STRICT, WITHOUT ROWID;

-- Configs with their text as a Python call.
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

-- Measurements with names instead of keys.
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
FROM measurements AS m
JOIN attempts AS a ON a.attempt = m.attempt
JOIN runs AS r ON r.run = a.run
LEFT JOIN kernels AS k ON k.kernel = r.kernel
JOIN statuses AS s ON s.status = m.status
JOIN config_texts AS t ON t.config = m.config;

-- Per run the fastest "ok" row; of equals the smaller attempt_id, then the smaller seq.
CREATE VIEW best_config_per_run (
  run_id, kernel_name, input_shapes, dtypes, hardware, perf_ms, attempt_id, seq, config_id, config
) AS
WITH ranked AS (
  SELECT
    a.run, a.attempt_id, m.seq, m.perf_ms, m.config,
    row_number() OVER (PARTITION BY a.run ORDER BY m.perf_ms, a.attempt_id, m.seq) AS place
  FROM measurements AS m
  JOIN attempts AS a ON a.attempt = m.attempt
  WHERE m.perf_ms IS NOT NULL AND m.status = (SELECT status FROM statuses WHERE name = 'ok')
)
SELECT
  r.run_id, k.name, r.input_shapes, r.dtypes, r.hardware, b.perf_ms, lower(hex(b.attempt_id)), b.seq, t.config_id, t.text
FROM ranked AS b
JOIN runs AS r ON r.run = b.run
LEFT JOIN kernels AS k ON k.kernel = r.kernel
JOIN config_texts AS t ON t.config = b.config
WHERE b.place = 1;

-- One line per run: how much is known of it.
CREATE VIEW run_summary (
  run_id, kernel_name, input_shapes, dtypes, hardware, attempts, measurements, configs, best_perf_ms
) AS
SELECT
  r.run_id, k.name, r.input_shapes, r.dtypes, r.hardware,
  count(DISTINCT a.attempt),
  count(m.seq),
  count(DISTINCT m.config),
  min(m.perf_ms) FILTER (WHERE m.status = (SELECT status FROM statuses WHERE name = 'ok'))
FROM runs AS r
LEFT JOIN kernels AS k ON k.kernel = r.kernel
LEFT JOIN attempts AS a ON a.run = r.run
LEFT JOIN measurements AS m ON m.attempt = a.attempt
GROUP BY r.run;

-- What is known of a measurement beyond its row. NULL: not known. stage: how it was measured (records.proto,
-- MeasurementDetail). samples_ms_json: a JSON array of numbers, in the order in which the samples were taken.
CREATE TABLE measurement_details (
  attempt INTEGER NOT NULL REFERENCES attempts,
  seq INTEGER NOT NULL,
  stage TEXT NOT NULL CHECK (stage IN ('unspecified', 'screening', 'search', 'final')),
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
  PRIMARY KEY (attempt, seq)
) STRICT, WITHOUT ROWID;

-- Who sent something: the name of the token that it came with. Nobody else can change it then. NULL, in each of the
-- columns `sender`: it came without a token, and may be continued by everyone.
CREATE TABLE senders (
  sender INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- How long the dataset has been served, by the collector's own counting: clocks are set, this only grows. A row says what
-- was there when so much had passed: nothing up to these keys is younger. 0: there was nothing.
CREATE TABLE served_time (
  served_us INTEGER PRIMARY KEY CHECK (served_us > 0),
  newest_attempt INTEGER NOT NULL,
  newest_reject INTEGER NOT NULL
) STRICT;
