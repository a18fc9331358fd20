-- How long the dataset has been served, by the collector's own counting: clocks are set, this only grows. A row says what
-- was there when so much had passed: nothing up to these keys is younger. 0: there was nothing.
CREATE TABLE served_time (
  served_us INTEGER PRIMARY KEY CHECK (served_us > 0),
  newest_attempt INTEGER NOT NULL,
  newest_reject INTEGER NOT NULL
) STRICT;
