#pragma once

namespace telemetry::web::summary {

// The tables of the summaries, in a scratch file. Texts of the dataset are stored once, cut, and found by their digest.
// Columns ending in _us are microseconds since 1970. `text` 0 is NULL.
inline constexpr char kSummarySchema[] = R"SQL(
CREATE TABLE texts (
  text INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  label TEXT,
  filter TEXT NOT NULL
) STRICT;
INSERT INTO texts (text, digest, label, filter) VALUES (0, x'', NULL, 'null:');

CREATE TABLE kernels (
  kernel INTEGER PRIMARY KEY,
  content BLOB NOT NULL,
  name INTEGER NOT NULL,
  kernel_id TEXT,
  version TEXT,
  source_bytes INTEGER,
  source_lines INTEGER
) STRICT;

CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL,
  sender INTEGER NOT NULL,
  kernel INTEGER NOT NULL,
  name INTEGER NOT NULL,
  shapes INTEGER NOT NULL,
  dtypes INTEGER NOT NULL,
  hardware INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  open_attempts INTEGER NOT NULL DEFAULT 0,
  row_count INTEGER NOT NULL DEFAULT 0,
  configs INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  best_ms REAL,
  default_ms REAL,
  speedup REAL,
  spread REAL,
  noise REAL,
  best_config_id TEXT,
  best_attempt_id TEXT,
  first_us INTEGER,
  last_us INTEGER,
  origin INTEGER NOT NULL DEFAULT 0,
  algorithm INTEGER NOT NULL DEFAULT 0,
  dialect INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'unspecified'
) STRICT;
CREATE INDEX runs_by_id ON runs (run_id);
CREATE INDEX runs_by_last ON runs (last_us, run);
CREATE INDEX runs_by_name ON runs (name, shapes, dtypes, hardware);

CREATE TABLE attempts (
  attempt INTEGER PRIMARY KEY,
  attempt_id TEXT NOT NULL,
  run INTEGER NOT NULL,
  sender INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  algorithm INTEGER NOT NULL,
  dialect INTEGER NOT NULL,
  state TEXT NOT NULL,
  provisional INTEGER NOT NULL,
  seed INTEGER,
  started_us INTEGER,
  received_us INTEGER NOT NULL,
  time_us INTEGER NOT NULL,
  changed_us INTEGER NOT NULL,
  row_count INTEGER NOT NULL,
  detail_count INTEGER NOT NULL,
  max_seq INTEGER NOT NULL,
  configs INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  best_ms REAL,
  best_rank INTEGER,
  best_seq INTEGER,
  best_stage TEXT,
  best_config_id TEXT,
  default_ms REAL,
  generation INTEGER,
  duration_s REAL,
  improved_s REAL,
  improved_config INTEGER,
  compile_s REAL,
  noise REAL
) STRICT;
CREATE INDEX attempts_by_run ON attempts (run, attempt);
CREATE INDEX attempts_by_id ON attempts (attempt_id);
CREATE INDEX attempts_by_state ON attempts (state, changed_us);
CREATE INDEX attempts_by_changed ON attempts (changed_us, attempt);
CREATE INDEX attempts_by_received ON attempts (received_us, row_count, failed, sender);

CREATE TABLE steps (
  name INTEGER NOT NULL,
  shapes INTEGER NOT NULL,
  dtypes INTEGER NOT NULL,
  hardware INTEGER NOT NULL,
  sender INTEGER NOT NULL,
  series TEXT NOT NULL,
  time_us INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  before_attempt INTEGER NOT NULL,
  before_ms REAL NOT NULL,
  after_ms REAL NOT NULL,
  ratio REAL NOT NULL,
  low REAL,
  high REAL,
  is_newest INTEGER NOT NULL
) STRICT;
CREATE INDEX steps_by_time ON steps (time_us, attempt);
CREATE INDEX steps_by_name ON steps (name, shapes, dtypes, hardware, sender);
)SQL";

}  // namespace telemetry::web::summary
