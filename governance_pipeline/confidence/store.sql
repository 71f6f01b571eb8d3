-- Registry and event lines as they were written, each once, never changed. `ts` is in microseconds and `day` an ordinal,
-- both read from the line; a registry line has neither. Order of the fold: ts, then event_id.
CREATE TABLE lines (
    seq        INTEGER PRIMARY KEY CHECK (seq >= 1),
    event_id   TEXT UNIQUE,
    ts         INTEGER,
    session_id TEXT,
    is_seal    INTEGER NOT NULL CHECK (is_seal IN (0, 1)),
    line       BLOB NOT NULL,
    sha256     TEXT NOT NULL CHECK (length(sha256) = 64),
    CHECK ((event_id IS NULL) = (ts IS NULL))
) STRICT;

CREATE INDEX lines_in_fold_order ON lines (ts, event_id) WHERE ts IS NOT NULL;

CREATE INDEX lines_of_session ON lines (session_id) WHERE session_id IS NOT NULL;

-- Saved states of the fold: what it gives for the `events` events up to (ts, event_id). They can be made again at any
-- time, so they may be removed.
CREATE TABLE checkpoints (
    ts       INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    events   INTEGER NOT NULL CHECK (events >= 1),
    state    TEXT NOT NULL,
    sha256   TEXT NOT NULL CHECK (length(sha256) = 64),
    PRIMARY KEY (ts, event_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER lines_no_update BEFORE UPDATE ON lines
BEGIN SELECT RAISE(ABORT, 'confidence events are append-only: no line is changed'); END;

CREATE TRIGGER lines_no_delete BEFORE DELETE ON lines
BEGIN SELECT RAISE(ABORT, 'confidence events are append-only: no line is removed'); END;

CREATE TRIGGER lines_in_order BEFORE INSERT ON lines
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM lines)
BEGIN SELECT RAISE(ABORT, 'confidence events are append-only: a line takes the next number'); END;

-- INSERT OR REPLACE would remove the older row without asking the trigger on DELETE.
CREATE TRIGGER lines_once BEFORE INSERT ON lines
WHEN EXISTS (SELECT 1 FROM lines WHERE event_id = NEW.event_id)
BEGIN SELECT RAISE(ABORT, 'confidence events are append-only: this id was recorded before'); END;
