-- Keeps the long data of one sender from slowing down the others. A search in a WITHOUT ROWID table or in an index
-- copies each row that it compares with, with all overflow pages. A search in a table with rowids reads only the keys.
DROP VIEW run_summary;
DROP VIEW best_config_per_run;
DROP VIEW measurement_rows;

-- The failures of measurements that are longer than 512 bytes. `measurements.failure` is empty for them, so that no row
-- of `measurements` has overflow pages.
CREATE TABLE long_failures (
  attempt INTEGER NOT NULL REFERENCES attempts,
  seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (attempt, seq)
) STRICT;

INSERT INTO long_failures (attempt, seq, text)
SELECT attempt, seq, failure FROM measurements WHERE length(CAST(failure AS BLOB)) > 512 ORDER BY attempt, seq;

UPDATE measurements SET failure = '' WHERE length(CAST(failure AS BLOB)) > 512;

-- Measurements with their failures of any length.
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

-- The tables below get rowids; their columns stay the same.
CREATE TABLE new_superseded_attempts (
  attempt_id BLOB NOT NULL CHECK (length(attempt_id) = 16),
  superseded_by BLOB NOT NULL CHECK (length(superseded_by) = 16),
  run INTEGER NOT NULL REFERENCES runs,
  origin TEXT NOT NULL,
  sender INTEGER REFERENCES senders,
  PRIMARY KEY (attempt_id, superseded_by)
) STRICT;

INSERT INTO new_superseded_attempts (attempt_id, superseded_by, run, origin, sender)
SELECT attempt_id, superseded_by, run, origin, sender
FROM superseded_attempts ORDER BY attempt_id, superseded_by;

DROP TABLE superseded_attempts;
ALTER TABLE new_superseded_attempts RENAME TO superseded_attempts;

CREATE TABLE new_run_configs (
  run INTEGER NOT NULL REFERENCES runs,
  config INTEGER NOT NULL REFERENCES configs,
  key_list INTEGER REFERENCES key_lists,
  sample_id BLOB CHECK (length(sample_id) = 32),
  decorator TEXT,
  sender INTEGER REFERENCES senders,
  PRIMARY KEY (run, config)
) STRICT;

INSERT INTO new_run_configs (run, config, key_list, sample_id, decorator, sender)
SELECT run, config, key_list, sample_id, decorator, sender
FROM run_configs ORDER BY run, config;

DROP TABLE run_configs;
ALTER TABLE new_run_configs RENAME TO run_configs;

CREATE TABLE new_measurement_details (
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

INSERT INTO new_measurement_details (attempt, seq, stage, tied_with_best, samples_ms_json, throttled_samples,
  registers, spill_bytes, shared_bytes, occupancy, binary_bytes, worst_absolute_error, worst_relative_error,
  sm_clock_mhz, time_unix_us, exact_perf_ms)
SELECT attempt, seq, stage, tied_with_best, samples_ms_json, throttled_samples, registers, spill_bytes, shared_bytes,
  occupancy, binary_bytes, worst_absolute_error, worst_relative_error, sm_clock_mhz, time_unix_us, exact_perf_ms
FROM measurement_details ORDER BY attempt, seq;

DROP TABLE measurement_details;
ALTER TABLE new_measurement_details RENAME TO measurement_details;

CREATE TABLE new_ir_nodes (
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

INSERT INTO new_ir_nodes (ir_graph, ordinal, id, graph_id, region_kind, block_ids_json, op_kind, target,
  lowering_class, dtype, shape_json, concrete_shape_json, stride_json, concrete_stride_json, device, value_json,
  input_dtypes_json, input_shapes_json, reduction_type, reduction_ranges_json, pointwise_ranges_json, source_loc,
  omitted_json, extra_json)
SELECT ir_graph, ordinal, id, graph_id, region_kind, block_ids_json, op_kind, target, lowering_class, dtype,
  shape_json, concrete_shape_json, stride_json, concrete_stride_json, device, value_json, input_dtypes_json,
  input_shapes_json, reduction_type, reduction_ranges_json, pointwise_ranges_json, source_loc, omitted_json,
  extra_json
FROM ir_nodes ORDER BY ir_graph, ordinal;

DROP TABLE ir_nodes;
ALTER TABLE new_ir_nodes RENAME TO ir_nodes;

CREATE TABLE new_ir_edges (
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

INSERT INTO new_ir_edges (ir_graph, ordinal, source, target, edge_kind, arg_positions_json, dtype, shape_json,
  omitted_json, extra_json)
SELECT ir_graph, ordinal, source, target, edge_kind, arg_positions_json, dtype, shape_json, omitted_json, extra_json
FROM ir_edges ORDER BY ir_graph, ordinal;

DROP TABLE ir_edges;
ALTER TABLE new_ir_edges RENAME TO ir_edges;

-- An argument of more than 900 bytes needs overflow pages in the index over `config_arguments.text`. Configs with such an
-- argument keep their text whole.
UPDATE configs SET
  unsplit_text = (SELECT t.text FROM config_texts AS t WHERE t.config = configs.config),
  arguments = NULL
WHERE EXISTS (SELECT 1 FROM config_arguments WHERE length(CAST(text AS BLOB)) > 900)
  AND EXISTS (
    SELECT 1
    FROM json_each(configs.arguments) AS position
    JOIN config_arguments AS a ON a.argument = position.value
    WHERE length(CAST(a.text AS BLOB)) > 900
  );

DELETE FROM config_arguments WHERE length(CAST(text AS BLOB)) > 900;

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
FROM whole_measurements AS m
JOIN attempts AS a ON a.attempt = m.attempt
JOIN runs AS r ON r.run = a.run
LEFT JOIN kernels AS k ON k.kernel = r.kernel
JOIN statuses AS s ON s.status = m.status
JOIN config_texts AS t ON t.config = m.config;

-- Per run the best "ok" row: the fastest final one, else the fastest that was not given up; of equals the smaller
-- attempt_id, then the smaller seq.
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

-- One line per run: how much is known of it.
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
