-- Measurements with their failures of any length. SQLite stores long failures in a table of their own and has the same
-- view. PostgreSQL itself stores long texts outside of their rows (TOAST), and its indexes do not contain these texts.
CREATE VIEW whole_measurements (
  run, attempt, seq, timestamp_s, generation, status, perf_ms, compile_time_s, config, failure
) AS
SELECT
  m.run,
  m.attempt,
  m.seq,
  m.timestamp_s,
  m.generation,
  m.status,
  m.perf_ms,
  m.compile_time_s,
  m.config,
  m.failure
FROM measurements AS m;
