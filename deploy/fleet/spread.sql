-- Runs on the first server, in one transaction, after `spread` has created the tables on the second server.
-- Variables: host, port, dbname, user, password of the second server.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;

-- fetch_size: one page of rows for each round trip. The order of the commits matters (README.md); the clocks and
-- settings of the servers do not.
CREATE SERVER telemetry_parts FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host :'host', port :'port', dbname :'dbname', fetch_size '10000', batch_size '1000', keep_connections 'on');
CREATE USER MAPPING FOR CURRENT_USER SERVER telemetry_parts OPTIONS (user :'user', password :'password');

-- The tables whose rows are only inserted, found by key, and removed. The rows of all other tables are updated or
-- provide keys for other tables.
DO $$
DECLARE
  parent text;
  key text;
BEGIN
  FOR parent, key IN VALUES ('measurements', 'run, attempt, seq'), ('source_hashes', 'run, attempt, seq'),
                            ('measurement_details', 'run, attempt, seq'), ('attempt_events', 'run, attempt, seq'),
                            ('ir_nodes', 'run, ir_graph, ordinal'), ('ir_edges', 'run, ir_graph, ordinal') LOOP
    -- A partitioned index cannot include foreign partitions. Each partition has its own primary key instead, which
    -- finds its rows and keeps them unique.
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', parent, parent || '_pkey');
    FOR remainder IN 0..7 LOOP
      EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (%s)', parent || '_' || remainder, key);
    END LOOP;
    FOR remainder IN 8..15 LOOP
      EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_' || remainder);
      DECLARE
        has_rows boolean;
      BEGIN
        EXECUTE format('SELECT EXISTS (SELECT FROM %I)', parent || '_' || remainder) INTO has_rows;
        IF has_rows THEN
          RAISE EXCEPTION 'the dataset is not empty: spread an empty one and copy this one into it';
        END IF;
      END;
      EXECUTE format('DROP TABLE %I', parent || '_' || remainder);
      EXECUTE format('CREATE FOREIGN TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s) '
                     'SERVER telemetry_parts OPTIONS (schema_name ''telemetry_parts'')',
                     parent || '_' || remainder, parent, remainder);
    END LOOP;
  END LOOP;
END
$$;
