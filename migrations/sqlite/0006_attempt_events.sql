-- Events of attempts beside their measurements, such as the lines of Helion's trace: text as the tuner wrote it, without
-- the line end. An ordinary rowid table: in a WITHOUT ROWID table each text above 1 KB would need an overflow page.
CREATE TABLE attempt_events (
  attempt INTEGER NOT NULL REFERENCES attempts,
  seq INTEGER NOT NULL,
  time_unix_us INTEGER,
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (attempt, seq)
) STRICT;

-- 1: the run is a stand-in for one that is not known (records.proto, Attempt).
ALTER TABLE attempts ADD COLUMN is_run_unknown INTEGER NOT NULL DEFAULT 0 CHECK (is_run_unknown IN (0, 1));

-- The stage 'rebenchmark', the time of a row, and its perf_ms with all digits.
DROP VIEW run_summary;
DROP VIEW best_config_per_run;

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
) STRICT, WITHOUT ROWID;

INSERT INTO new_measurement_details (attempt, seq, stage, tied_with_best, samples_ms_json, throttled_samples, registers,
  spill_bytes, shared_bytes, occupancy, binary_bytes, worst_absolute_error, worst_relative_error, sm_clock_mhz)
SELECT attempt, seq, stage, tied_with_best, samples_ms_json, throttled_samples, registers, spill_bytes, shared_bytes,
  occupancy, binary_bytes, worst_absolute_error, worst_relative_error, sm_clock_mhz
FROM measurement_details;

DROP TABLE measurement_details;
ALTER TABLE new_measurement_details RENAME TO measurement_details;

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
