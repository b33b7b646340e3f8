-- 0004_checksums: facts are chained, and every other row carries a checksum of its own.
-- SPDX-License-Identifier: Apache-2.0
-- docs/dev/formats/data-directory.md explains the column `sum`. Rows of an older Weir are taken as they are, and get their
-- checksum here. weir_sum() and weir_chain() are functions of the program (sqlite/sum.c).
ALTER TABLE fact RENAME TO fact_before;
CREATE TABLE fact (
    seq     INTEGER PRIMARY KEY,
    time_ms INTEGER NOT NULL,
    type    INTEGER NOT NULL,
    body    BLOB NOT NULL,
    sum     INTEGER NOT NULL
) STRICT;
INSERT INTO fact SELECT seq, time_ms, type, body, weir_chain(seq, time_ms, type, body) FROM fact_before ORDER BY seq;
DROP TABLE fact_before;

ALTER TABLE history ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE history SET sum = weir_sum(task, submitted_ms, ended_ms, state, kind, pool, user, project, name, json);

ALTER TABLE attempt ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE attempt SET sum = weir_sum(task, idx, attempt, json);

ALTER TABLE log_chunk ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE log_chunk SET sum = weir_sum(task, idx, attempt, stream, offset, length, time_ms, place);

ALTER TABLE log_segment ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE log_segment SET sum = weir_sum(segment, chunks, bytes);

-- crc: of the data in the snapshot's file; -1: not known, the snapshot was written by an older Weir.
ALTER TABLE snapshot ADD COLUMN crc INTEGER NOT NULL DEFAULT -1;
ALTER TABLE snapshot ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE snapshot SET sum = weir_sum(seq, bytes, crc);

ALTER TABLE token ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE token SET sum = weir_sum(hash, id, scope, name, created_ms, expires_ms, uses, pool, node, machine);
