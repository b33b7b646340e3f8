-- 0005_usage: what was used: pieces of attempts and ends of tasks by UTC day, and their sums of each day.
-- SPDX-License-Identifier: Apache-2.0
-- Amounts are slots times milliseconds. `sum` is the checksum of the row. docs/dev/formats/data-directory.md explains the tables.

-- idx -1 is the end of the task itself. ending: 0 where the attempt goes on the next day, else enum store_use_end.
CREATE TABLE usage_piece (
    day         INTEGER NOT NULL,
    task        INTEGER NOT NULL,
    idx         INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    begin_ms    INTEGER NOT NULL,
    end_ms      INTEGER NOT NULL,
    lost_ms     INTEGER NOT NULL,
    slots_milli INTEGER NOT NULL,
    asked       INTEGER NOT NULL,
    waited      INTEGER NOT NULL,
    ending      INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    pool        TEXT NOT NULL,
    user        TEXT NOT NULL,
    project     TEXT NOT NULL,
    node        TEXT NOT NULL,
    sum         INTEGER NOT NULL,
    PRIMARY KEY (day, task, idx, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_day (
    day         INTEGER NOT NULL,
    pool        TEXT NOT NULL,
    project     TEXT NOT NULL,
    user        TEXT NOT NULL,
    kind        INTEGER NOT NULL,
    asked       INTEGER NOT NULL,
    used        INTEGER NOT NULL,
    lost        INTEGER NOT NULL,
    waited      INTEGER NOT NULL,
    completed   INTEGER NOT NULL,
    failed      INTEGER NOT NULL,
    killed      INTEGER NOT NULL,
    unavailable INTEGER NOT NULL,
    unknown     INTEGER NOT NULL,
    tries       INTEGER NOT NULL,
    tries_bad   INTEGER NOT NULL,
    evicted     INTEGER NOT NULL,
    node_lost   INTEGER NOT NULL,
    sum         INTEGER NOT NULL,
    PRIMARY KEY (day, pool, project, user, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_node (
    day       INTEGER NOT NULL,
    pool      TEXT NOT NULL,
    node      TEXT NOT NULL,
    used      INTEGER NOT NULL,
    lost      INTEGER NOT NULL,
    tries     INTEGER NOT NULL,
    tries_bad INTEGER NOT NULL,
    evicted   INTEGER NOT NULL,
    node_lost INTEGER NOT NULL,
    sum       INTEGER NOT NULL,
    PRIMARY KEY (day, pool, node)
) STRICT, WITHOUT ROWID;

-- Until when the attempt ran: the next attempt of the instance has waited since then. 0: not known.
ALTER TABLE attempt ADD COLUMN ended_ms INTEGER NOT NULL DEFAULT 0;
UPDATE attempt SET sum = weir_sum(task, idx, attempt, json, ended_ms)
    WHERE sum = weir_sum(task, idx, attempt, json);

-- Tasks that ended before this migration are in no sum. So the pieces of today are not all there.
INSERT INTO meta (key, value)
    SELECT 'usage_pieces_from', CAST(unixepoch() / 86400 + 1 AS TEXT) WHERE EXISTS (SELECT 1 FROM history);
