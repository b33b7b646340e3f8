-- 0001_initial: facts, snapshots, history, index of the log segments, tokens.
-- SPDX-License-Identifier: Apache-2.0
-- docs/dev/formats/data-directory.md explains each table. 1464158546 is 'WEIR'.
PRAGMA application_id = 1464158546;

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE fact (
    seq     INTEGER PRIMARY KEY,
    time_ms INTEGER NOT NULL,
    type    INTEGER NOT NULL,
    body    BLOB NOT NULL
) STRICT;

CREATE TABLE snapshot (
    seq   INTEGER PRIMARY KEY,
    bytes INTEGER NOT NULL
) STRICT;

-- SQLite orders rows with equal index values by task (the row id), so that a filtered page needs no sort.
CREATE TABLE history (
    task         INTEGER PRIMARY KEY,
    submitted_ms INTEGER NOT NULL,
    ended_ms     INTEGER NOT NULL,
    state        INTEGER NOT NULL,
    kind         INTEGER NOT NULL,
    pool         TEXT NOT NULL,
    user         TEXT NOT NULL,
    project      TEXT NOT NULL,
    name         TEXT NOT NULL,
    json         BLOB NOT NULL
) STRICT;
CREATE INDEX history_pool ON history (pool);
CREATE INDEX history_user ON history (user);
CREATE INDEX history_project ON history (project);
CREATE INDEX history_state ON history (state);
CREATE INDEX history_ended ON history (ended_ms);
CREATE INDEX history_name ON history (name) WHERE name <> '';

-- place = segment * 2^32 + position in the segment's file. Places are unique and grow in order of arrival.
CREATE TABLE log_chunk (
    task    INTEGER NOT NULL,
    idx     INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    stream  INTEGER NOT NULL,
    offset  INTEGER NOT NULL,
    length  INTEGER NOT NULL,
    time_ms INTEGER NOT NULL,
    place   INTEGER NOT NULL,
    PRIMARY KEY (task, idx, attempt, stream, offset)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX log_chunk_arrival ON log_chunk (task, place);

-- bytes: the end of the last indexed record in the file. Bytes behind that end are no data.
CREATE TABLE log_segment (
    segment INTEGER PRIMARY KEY,
    chunks  INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT;

CREATE TABLE token (
    hash       BLOB NOT NULL PRIMARY KEY,
    id         TEXT NOT NULL,
    scope      TEXT NOT NULL,
    name       TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
