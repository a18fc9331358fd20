-- Who sent something: the name of the token that it came with. Nobody else can change it then. NULL, in each of the
-- columns below: it came without a token, and may be continued by everyone.
CREATE TABLE senders (
  sender INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

ALTER TABLE producers ADD COLUMN sender INTEGER REFERENCES senders;
ALTER TABLE attempts ADD COLUMN sender INTEGER REFERENCES senders;
ALTER TABLE superseded_attempts ADD COLUMN sender INTEGER REFERENCES senders;
ALTER TABLE run_configs ADD COLUMN sender INTEGER REFERENCES senders;
ALTER TABLE ir_graphs ADD COLUMN sender INTEGER REFERENCES senders;
