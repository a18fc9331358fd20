-- Each sender has its own row under a run_id or config_id, since an id is only the sender's claim. `sender` is 0 for
-- records without a sender's name and for all rows that were stored before this migration.
DROP VIEW run_summary;
DROP VIEW best_config_per_run;
DROP VIEW measurement_rows;
DROP VIEW config_texts;

CREATE TABLE new_runs (
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

INSERT INTO new_runs (run, run_id, kernel, input_shapes, dtypes, hardware, settings_signature, extra_json)
SELECT run, run_id, kernel, input_shapes, dtypes, hardware, settings_signature, extra_json FROM runs;

DROP TABLE runs;
ALTER TABLE new_runs RENAME TO runs;
CREATE INDEX runs_by_kernel ON runs (kernel);

CREATE TABLE new_configs (
  config INTEGER PRIMARY KEY,
  config_id INTEGER NOT NULL CHECK (config_id <> 0),
  arguments TEXT,
  unsplit_text TEXT,
  sender INTEGER NOT NULL DEFAULT 0,
  UNIQUE (config_id, sender),
  CHECK (arguments IS NULL OR unsplit_text IS NULL)
) STRICT;

INSERT INTO new_configs (config, config_id, arguments, unsplit_text)
SELECT config, config_id, arguments, unsplit_text FROM configs;

DROP TABLE configs;
ALTER TABLE new_configs RENAME TO configs;

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
