-- Events of attempts beside their measurements, such as the lines of Helion's trace: text as the tuner wrote it, without
-- the line end.
CREATE TABLE attempt_events (
  run bigint NOT NULL,
  attempt bigint NOT NULL,
  seq bigint NOT NULL,
  time_unix_us bigint,
  name text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  PRIMARY KEY (run, attempt, seq)
) PARTITION BY HASH (run);

DO $$
BEGIN
  FOR remainder IN 0..15 LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF attempt_events FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                   'attempt_events_' || remainder, remainder);
  END LOOP;
END
$$;

-- 1: the run is a stand-in for one that is not known (records.proto, Attempt).
ALTER TABLE attempts ADD COLUMN is_run_unknown smallint NOT NULL DEFAULT 0 CHECK (is_run_unknown IN (0, 1));

-- The stage 'rebenchmark', the time of a row, and its perf_ms with all digits.
ALTER TABLE measurement_details DROP CONSTRAINT measurement_details_stage_check;
ALTER TABLE measurement_details ADD CONSTRAINT measurement_details_stage_check
  CHECK (stage IN ('unspecified', 'screening', 'search', 'final', 'rebenchmark'));
ALTER TABLE measurement_details ADD COLUMN time_unix_us bigint;
ALTER TABLE measurement_details ADD COLUMN exact_perf_ms double precision;
