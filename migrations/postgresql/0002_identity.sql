-- Each sender has its own row under a run_id or config_id, since an id is only the sender's claim. `sender` is 0 for
-- records without a sender's name and for all rows that were stored before this migration.
ALTER TABLE runs DROP CONSTRAINT runs_run_id_key;
ALTER TABLE runs ADD COLUMN sender bigint NOT NULL DEFAULT 0;
ALTER TABLE runs ADD UNIQUE (run_id, sender);

ALTER TABLE configs DROP CONSTRAINT configs_config_id_key;
ALTER TABLE configs ADD COLUMN sender bigint NOT NULL DEFAULT 0;
ALTER TABLE configs ADD UNIQUE (config_id, sender);

-- Per run the best "ok" row: the fastest final one, else the fastest that was not given up; of equals the smaller
-- attempt_id, then the smaller seq.
CREATE OR REPLACE VIEW best_config_per_run (
  run_id, kernel_name, input_shapes, dtypes, hardware, perf_ms, attempt_id, seq, config_id, config
) AS
WITH ranked AS (
  SELECT
    m.run, a.attempt_id, m.seq, m.perf_ms, m.config,
    row_number() OVER (
      PARTITION BY m.run ORDER BY d.stage IS DISTINCT FROM 'final', m.perf_ms, a.attempt_id, m.seq
    ) AS place
  FROM measurements AS m
  JOIN attempts AS a ON a.run = m.run AND a.attempt = m.attempt
  LEFT JOIN measurement_details AS d ON d.run = m.run AND d.attempt = m.attempt AND d.seq = m.seq
  WHERE m.perf_ms IS NOT NULL AND m.status = (SELECT status FROM statuses WHERE name = 'ok')
    AND d.stage IS DISTINCT FROM 'screening'
)
SELECT
  r.run_id, k.name, r.input_shapes, r.dtypes, r.hardware, b.perf_ms, encode(b.attempt_id, 'hex'), b.seq, t.config_id, t.text
FROM ranked AS b
JOIN runs AS r ON r.run = b.run
LEFT JOIN kernels AS k ON k.kernel = r.kernel
JOIN config_texts AS t ON t.config = b.config
WHERE b.place = 1;

-- One line per run: how much is known of it.
CREATE OR REPLACE VIEW run_summary (
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
      WHERE m.status = (SELECT status FROM statuses WHERE name = 'ok') AND d.stage IS DISTINCT FROM 'screening'
    )
  )
FROM runs AS r
LEFT JOIN kernels AS k ON k.kernel = r.kernel
LEFT JOIN attempts AS a ON a.run = r.run
LEFT JOIN measurements AS m ON m.run = r.run AND m.attempt = a.attempt
LEFT JOIN measurement_details AS d ON d.run = m.run AND d.attempt = m.attempt AND d.seq = m.seq
GROUP BY r.run, k.kernel;
