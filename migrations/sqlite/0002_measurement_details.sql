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
