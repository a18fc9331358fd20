-- The cache that tuners share. A sender is a token's name or, without tokens, a network, so its name is not one of
-- `senders`. `size_bytes` are the bytes that the sender's budget is charged for.
CREATE TABLE cache_senders (
  cache_sender bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  name_sha256 bytea NOT NULL UNIQUE GENERATED ALWAYS AS (text_sha256(name)) STORED,
  size_bytes bigint NOT NULL
);

-- An entry that is put again gets a new key: keys are in the order of the puts.
CREATE TABLE cache_entries (
  cache_entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  cache_sender bigint NOT NULL REFERENCES cache_senders,
  namespace text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  stored_unix_us bigint NOT NULL,
  size_bytes bigint NOT NULL,
  attempt_id bytea CHECK (length(attempt_id) = 16),
  hardware text COLLATE "C",
  versions_json text COLLATE "C",
  value bytea NOT NULL,
  UNIQUE (namespace, key, cache_sender)
);

CREATE INDEX cache_entries_by_sender ON cache_entries (cache_sender, cache_entry);
