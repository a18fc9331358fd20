-- The cache that tuners share. A sender is a token's name or, without tokens, a network, so its name is not one of
-- `senders`. `size_bytes` are the bytes that the sender's budget is charged for.
CREATE TABLE cache_senders (
  cache_sender INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  size_bytes INTEGER NOT NULL
) STRICT;

-- An entry that is put again gets a new key: keys are in the order of the puts. The value is the last column, so that a
-- list reads no overflow pages.
CREATE TABLE cache_entries (
  cache_entry INTEGER PRIMARY KEY,
  cache_sender INTEGER NOT NULL REFERENCES cache_senders,
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  stored_unix_us INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  attempt_id BLOB CHECK (length(attempt_id) = 16),
  hardware TEXT,
  versions_json TEXT,
  value BLOB NOT NULL,
  UNIQUE (namespace, key, cache_sender)
) STRICT;

CREATE INDEX cache_entries_by_sender ON cache_entries (cache_sender, cache_entry);
