-- 0003_attempts: the earlier attempts of tasks.
-- SPDX-License-Identifier: Apache-2.0
-- json: the attempt as the API shows it. The newest attempt of an instance is in the state or in history.json.
CREATE TABLE attempt (
    task    INTEGER NOT NULL,
    idx     INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    json    BLOB NOT NULL,
    PRIMARY KEY (task, idx, attempt)
) STRICT, WITHOUT ROWID;
