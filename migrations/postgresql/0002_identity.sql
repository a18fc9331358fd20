-- An id is a claim of whoever sends it: what is said under one run_id or config_id belongs to its sender, and another
-- sender has a row of its own under the same id. `sender` is 0 where there was no name, and in all rows of before.
ALTER TABLE runs DROP CONSTRAINT runs_run_id_key;
ALTER TABLE runs ADD COLUMN sender bigint NOT NULL DEFAULT 0;
ALTER TABLE runs ADD UNIQUE (run_id, sender);

ALTER TABLE configs DROP CONSTRAINT configs_config_id_key;
ALTER TABLE configs ADD COLUMN sender bigint NOT NULL DEFAULT 0;
ALTER TABLE configs ADD UNIQUE (config_id, sender);
