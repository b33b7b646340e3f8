-- Join tokens are used up, credentials belong to one machine and one pool, and a join token may be for one node.
ALTER TABLE token ADD COLUMN uses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE token ADD COLUMN pool TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN node TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN machine TEXT NOT NULL DEFAULT '';
