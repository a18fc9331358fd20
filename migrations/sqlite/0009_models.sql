-- The cost models that senders store. A sender is a token's name or, without tokens, a network, as in `cache_senders`.
-- There are at most some thousand models, so that no query needs an index.
CREATE TABLE models (
  model INTEGER PRIMARY KEY,
  sender TEXT NOT NULL,
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  size_bytes INTEGER NOT NULL,
  received_parts INTEGER NOT NULL,
  -- Larger: stored later. This column and the next ones are NULL as long as parts are missing.
  stored_order INTEGER,
  stored_unix_us INTEGER,
  format_version INTEGER,
  feature_version INTEGER,
  provenance_json TEXT
) STRICT;

-- The bytes of a model's file. `part` counts from 0; all parts have 1 MiB, except for the last one.
CREATE TABLE model_parts (
  model_part INTEGER PRIMARY KEY,
  model INTEGER NOT NULL REFERENCES models,
  part INTEGER NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (model, part)
) STRICT;
