-- One row per event. `bytes` are the record: canonical JSON of seq, ts, type, actor, body. The other columns repeat
-- parts of it for reading, and `chain` binds each row to all before it; verification holds them to the bytes.
CREATE TABLE events (
    seq        INTEGER PRIMARY KEY CHECK (seq >= 1),
    ts         TEXT NOT NULL,
    type       TEXT NOT NULL,
    actor      TEXT NOT NULL,
    body       TEXT NOT NULL,
    unique_key TEXT UNIQUE,
    bytes      BLOB NOT NULL,
    chain      BLOB NOT NULL CHECK (length(chain) = 32)
) STRICT;

CREATE INDEX events_by_type ON events (type, seq);

-- How many events there are and the chain of the last: rows cut off at the end leave a trace here.
CREATE TABLE head (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    size  INTEGER NOT NULL CHECK (size >= 0),
    chain BLOB NOT NULL CHECK (length(chain) = 32)
) STRICT;

INSERT INTO head VALUES (1, 0, zeroblob(32));

CREATE TRIGGER events_no_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: no event is changed'); END;

CREATE TRIGGER events_no_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: no event is removed'); END;

CREATE TRIGGER events_in_order BEFORE INSERT ON events
WHEN NEW.seq IS NOT (SELECT size + 1 FROM head)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: an event takes the next number'); END;

-- INSERT OR REPLACE would remove the older row without asking the trigger on DELETE.
CREATE TRIGGER events_once BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE unique_key = NEW.unique_key)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: this key was recorded before'); END;

CREATE TRIGGER head_forward BEFORE UPDATE ON head
WHEN NEW.one IS NOT 1 OR NEW.size IS NOT OLD.size + 1
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: its size grows by one'); END;

CREATE TRIGGER head_no_delete BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: its head is kept'); END;

CREATE TRIGGER head_no_insert BEFORE INSERT ON head
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: it has one head'); END;
