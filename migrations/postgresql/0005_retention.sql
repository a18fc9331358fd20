-- The time for which the dataset has been served, as counted by its collectors. Clocks can be set; this only grows. A
-- row contains the largest keys that existed when that time had passed: no row with such a key or a smaller one is
-- younger.
CREATE TABLE served_time (
  served_us bigint PRIMARY KEY CHECK (served_us > 0),
  newest_attempt bigint NOT NULL,
  newest_reject bigint NOT NULL
);

-- Attempts that retention has removed and whose rows are still to be deleted, a few at a time. No query finds these
-- rows, because queries find rows through their attempt.
CREATE TABLE removed_attempts (
  attempt bigint PRIMARY KEY,
  run bigint NOT NULL
);

-- Vacuum makes the space of deleted rows available to new ones. The default waits until a fifth of a table is deleted.
-- Statistics tell retention how many bytes the rows occupy. Partitions on other servers are set there.
DO $$
DECLARE
  part regclass;
BEGIN
  FOR part IN SELECT c.oid FROM pg_class AS c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
              AND (c.relispartition OR c.relname IN ('attempts', 'rejects', 'cache_entries')) LOOP
    EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, '
                   'autovacuum_analyze_scale_factor = 0.05)', part);
  END LOOP;
  FOR part IN SELECT c.oid FROM pg_class AS c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
              AND c.reltoastrelid <> 0
              AND (c.relispartition OR c.relname IN ('attempts', 'rejects', 'cache_entries')) LOOP
    EXECUTE format('ALTER TABLE %s SET (toast.autovacuum_vacuum_scale_factor = 0.02, '
                   'toast.autovacuum_vacuum_threshold = 1000)', part);
  END LOOP;
END
$$;
