-- The dataset in PostgreSQL: the tables of migrations/sqlite under the same names, for any number of collectors at once.
-- README.md beside this folder says what they mean and how to query them; what differs:
--   * What belongs to a run has the run in its key and lies in one of 16 partitions by a hash of it.
--   * Text sorts by its bytes (COLLATE "C"), as SQLite's does, so that an export is the same whatever it comes from.
--   * Long text is unique by its SHA-256: an index takes no more than some 2700 bytes.
--   * Partitions have no foreign keys: a check for each row would cost more than the row. The writers lock what they refer to.

CREATE FUNCTION text_sha256(content text) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sha256(convert_to(content, 'UTF8'));

CREATE TABLE dataset (
  dataset_id bytea NOT NULL CHECK (length(dataset_id) = 16),
  created_unix_us bigint NOT NULL
);

CREATE TABLE kernels (
  kernel bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kernel_id text COLLATE "C",
  name text COLLATE "C",
  source text COLLATE "C",
  content_sha256 bytea NOT NULL UNIQUE
);

CREATE TABLE runs (
  run bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL UNIQUE CHECK (length(run_id) = 64),
  kernel bigint REFERENCES kernels,
  input_shapes text COLLATE "C",
  dtypes text COLLATE "C",
  hardware text COLLATE "C",
  settings_signature text COLLATE "C",
  extra_json text COLLATE "C"
);

CREATE INDEX runs_by_kernel ON runs (kernel);

CREATE TABLE run_settings (
  run bigint NOT NULL,
  settings_json text COLLATE "C" NOT NULL,
  settings_sha256 bytea NOT NULL GENERATED ALWAYS AS (text_sha256(settings_json)) STORED,
  PRIMARY KEY (run, settings_sha256)
) PARTITION BY HASH (run);

CREATE TABLE senders (
  sender bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  name_sha256 bytea NOT NULL UNIQUE GENERATED ALWAYS AS (text_sha256(name)) STORED
);

CREATE TABLE attempts (
  attempt bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  attempt_id bytea NOT NULL UNIQUE CHECK (length(attempt_id) = 16),
  run bigint NOT NULL REFERENCES runs,
  origin text COLLATE "C" NOT NULL,
  dialect text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('unspecified', 'open', 'complete', 'abandoned')),
  provisional smallint NOT NULL CHECK (provisional IN (0, 1)),
  started_unix_us bigint,
  search_algorithm text COLLATE "C",
  seed bigint,
  environment_json text COLLATE "C",
  counters_json text COLLATE "C",
  first_received_unix_us bigint NOT NULL,
  sender bigint REFERENCES senders
);

CREATE INDEX attempts_by_run ON attempts (run, attempt_id);

CREATE TABLE superseded_attempts (
  attempt_id bytea NOT NULL CHECK (length(attempt_id) = 16),
  superseded_by bytea NOT NULL CHECK (length(superseded_by) = 16),
  run bigint NOT NULL REFERENCES runs,
  origin text COLLATE "C" NOT NULL,
  sender bigint REFERENCES senders,
  PRIMARY KEY (attempt_id, superseded_by)
);

CREATE INDEX superseded_attempts_by_run ON superseded_attempts (run);

CREATE TABLE config_arguments (
  argument bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  text text COLLATE "C" NOT NULL,
  text_sha256 bytea NOT NULL UNIQUE GENERATED ALWAYS AS (text_sha256(text)) STORED
);

-- config_id holds the 64 bits of the id: lpad(to_hex(config_id), 16, '0') prints it.
CREATE TABLE configs (
  config bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  config_id bigint NOT NULL UNIQUE CHECK (config_id <> 0),
  arguments text COLLATE "C",
  unsplit_text text COLLATE "C",
  CHECK (arguments IS NULL OR unsplit_text IS NULL)
);

CREATE TABLE key_lists (
  key_list bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  keys_json text COLLATE "C" NOT NULL,
  keys_sha256 bytea NOT NULL UNIQUE GENERATED ALWAYS AS (text_sha256(keys_json)) STORED
);

CREATE TABLE run_configs (
  run bigint NOT NULL,
  config bigint NOT NULL,
  key_list bigint,
  sample_id bytea CHECK (length(sample_id) = 32),
  decorator text COLLATE "C",
  sender bigint,
  PRIMARY KEY (run, config)
) PARTITION BY HASH (run);

CREATE TABLE statuses (
  status bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  name_sha256 bytea NOT NULL UNIQUE GENERATED ALWAYS AS (text_sha256(name)) STORED
);

CREATE TABLE measurements (
  run bigint NOT NULL,
  attempt bigint NOT NULL,
  seq bigint NOT NULL,
  timestamp_s double precision NOT NULL,
  generation bigint NOT NULL,
  status bigint NOT NULL,
  perf_ms double precision,
  compile_time_s double precision,
  config bigint NOT NULL,
  failure text COLLATE "C",
  PRIMARY KEY (run, attempt, seq)
) PARTITION BY HASH (run);

-- encode(source_hash, 'hex') prints it.
CREATE TABLE source_hashes (
  run bigint NOT NULL,
  attempt bigint NOT NULL,
  seq bigint NOT NULL,
  source_hash bytea NOT NULL,
  PRIMARY KEY (run, attempt, seq)
) PARTITION BY HASH (run);

CREATE TABLE measurement_details (
  run bigint NOT NULL,
  attempt bigint NOT NULL,
  seq bigint NOT NULL,
  stage text COLLATE "C" NOT NULL CHECK (stage IN ('unspecified', 'screening', 'search', 'final')),
  tied_with_best smallint CHECK (tied_with_best IN (0, 1)),
  samples_ms_json text COLLATE "C",
  throttled_samples bigint,
  registers bigint,
  spill_bytes bigint,
  shared_bytes bigint,
  occupancy double precision,
  binary_bytes bigint,
  worst_absolute_error double precision,
  worst_relative_error double precision,
  sm_clock_mhz double precision,
  PRIMARY KEY (run, attempt, seq)
) PARTITION BY HASH (run);

CREATE SEQUENCE ir_graph_keys;

-- kind is 'device' or 'wrapper'.
CREATE TABLE ir_graphs (
  run bigint NOT NULL,
  ir_graph bigint NOT NULL DEFAULT nextval('ir_graph_keys'),
  kind text COLLATE "C" NOT NULL,
  schema_version bigint,
  directed smallint NOT NULL CHECK (directed IN (0, 1)),
  multigraph smallint NOT NULL CHECK (multigraph IN (0, 1)),
  attributes_json text COLLATE "C" NOT NULL,
  extra_json text COLLATE "C" NOT NULL,
  content_sha256 bytea NOT NULL,
  sender bigint,
  PRIMARY KEY (run, ir_graph),
  UNIQUE (run, kind)
) PARTITION BY HASH (run);

CREATE TABLE ir_nodes (
  run bigint NOT NULL,
  ir_graph bigint NOT NULL,
  ordinal bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  graph_id bigint NOT NULL,
  region_kind text COLLATE "C",
  block_ids_json text COLLATE "C",
  op_kind text COLLATE "C",
  target text COLLATE "C",
  lowering_class text COLLATE "C",
  dtype text COLLATE "C",
  shape_json text COLLATE "C",
  concrete_shape_json text COLLATE "C",
  stride_json text COLLATE "C",
  concrete_stride_json text COLLATE "C",
  device text COLLATE "C",
  value_json text COLLATE "C",
  input_dtypes_json text COLLATE "C",
  input_shapes_json text COLLATE "C",
  reduction_type text COLLATE "C",
  reduction_ranges_json text COLLATE "C",
  pointwise_ranges_json text COLLATE "C",
  source_loc text COLLATE "C",
  omitted_json text COLLATE "C",
  extra_json text COLLATE "C" NOT NULL,
  PRIMARY KEY (run, ir_graph, ordinal)
) PARTITION BY HASH (run);

CREATE TABLE ir_edges (
  run bigint NOT NULL,
  ir_graph bigint NOT NULL,
  ordinal bigint NOT NULL,
  source text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  edge_kind text COLLATE "C",
  arg_positions_json text COLLATE "C",
  dtype text COLLATE "C",
  shape_json text COLLATE "C",
  omitted_json text COLLATE "C",
  extra_json text COLLATE "C" NOT NULL,
  PRIMARY KEY (run, ir_graph, ordinal)
) PARTITION BY HASH (run);

CREATE TABLE rejects (
  reject bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  content_sha256 bytea NOT NULL UNIQUE,
  reason text COLLATE "C" NOT NULL,
  message text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  line bigint NOT NULL,
  raw bytea NOT NULL,
  origin text COLLATE "C" NOT NULL,
  producer_id bytea NOT NULL,
  received_unix_us bigint NOT NULL
);

CREATE TABLE producers (
  producer_id bytea PRIMARY KEY CHECK (length(producer_id) = 16),
  epoch bigint NOT NULL,
  committed_seq bigint NOT NULL,
  client text COLLATE "C" NOT NULL,
  first_opened_unix_us bigint NOT NULL,
  last_opened_unix_us bigint NOT NULL,
  sender bigint REFERENCES senders
);

DO $$
DECLARE
  parent text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['run_settings', 'run_configs', 'measurements', 'source_hashes', 'measurement_details',
                                'ir_graphs', 'ir_nodes', 'ir_edges'] LOOP
    FOR remainder IN 0..15 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                     parent || '_' || remainder, parent, remainder);
    END LOOP;
  END LOOP;
END
$$;

-- Configs with their text as a Python call.
CREATE VIEW config_texts (config, config_id, text) AS
SELECT
  c.config,
  lpad(to_hex(c.config_id), 16, '0'),
  CASE
    WHEN c.arguments IS NULL THEN c.unsplit_text
    ELSE 'Config(' || (
      SELECT string_agg(a.text, ', ' ORDER BY position.ordinal)
      FROM json_array_elements_text(c.arguments::json) WITH ORDINALITY AS position (argument, ordinal)
      JOIN config_arguments AS a ON a.argument = position.argument::bigint
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
  encode(a.attempt_id, 'hex'),
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
JOIN attempts AS a ON a.run = m.run AND a.attempt = m.attempt
JOIN runs AS r ON r.run = m.run
LEFT JOIN kernels AS k ON k.kernel = r.kernel
JOIN statuses AS s ON s.status = m.status
JOIN config_texts AS t ON t.config = m.config;

-- Per run the fastest "ok" row; of equals the smaller attempt_id, then the smaller seq.
CREATE VIEW best_config_per_run (
  run_id, kernel_name, input_shapes, dtypes, hardware, perf_ms, attempt_id, seq, config_id, config
) AS
WITH ranked AS (
  SELECT
    m.run, a.attempt_id, m.seq, m.perf_ms, m.config,
    row_number() OVER (PARTITION BY m.run ORDER BY m.perf_ms, a.attempt_id, m.seq) AS place
  FROM measurements AS m
  JOIN attempts AS a ON a.run = m.run AND a.attempt = m.attempt
  WHERE m.perf_ms IS NOT NULL AND m.status = (SELECT status FROM statuses WHERE name = 'ok')
)
SELECT
  r.run_id, k.name, r.input_shapes, r.dtypes, r.hardware, b.perf_ms, encode(b.attempt_id, 'hex'), b.seq, t.config_id, t.text
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
LEFT JOIN measurements AS m ON m.run = r.run AND m.attempt = a.attempt
GROUP BY r.run, k.kernel;
