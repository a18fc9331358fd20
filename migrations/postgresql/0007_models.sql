-- works with version 6
-- The cost models that senders store. A sender is a token's name or, without tokens, a network, as in `cache_senders`.
-- There are at most some thousand models, so that no query needs an index.
CREATE TABLE models (
  model bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sender text COLLATE "C" NOT NULL,
  sha256 bytea NOT NULL CHECK (length(sha256) = 32),
  size_bytes bigint NOT NULL,
  received_parts bigint NOT NULL,
  -- Larger: stored later. This column and the next ones are NULL as long as parts are missing.
  stored_order bigint,
  stored_unix_us bigint,
  format_version bigint,
  feature_version bigint,
  provenance_json text COLLATE "C"
);

-- The bytes of a model's file. `part` counts from 0; all parts have 1 MiB, except for the last one.
CREATE TABLE model_parts (
  model_part bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  model bigint NOT NULL REFERENCES models,
  part bigint NOT NULL,
  data bytea NOT NULL,
  UNIQUE (model, part)
);
