-- Where this place stands with the hub; one row. No key is in it: the key has a file of its own.
CREATE TABLE sync (
    one                  INTEGER PRIMARY KEY CHECK (one = 1),
    status               TEXT NOT NULL CHECK (status IN ('unregistered', 'pending_email', 'active', 'error', 'suspended')),
    reason               TEXT CHECK (reason IN ('unauthorized', 'too_many_errors')),
    url                  TEXT,
    runtime              TEXT,
    intent_id            TEXT,
    intent_expires_at    TEXT,
    runtime_id           TEXT,
    is_verified          INTEGER NOT NULL DEFAULT 0 CHECK (is_verified IN (0, 1)),
    registered_at        TEXT,
    taken_seq            INTEGER NOT NULL DEFAULT 0 CHECK (taken_seq >= 0),
    first_seq            INTEGER NOT NULL DEFAULT 0 CHECK (first_seq >= 0),
    sync_errors          INTEGER NOT NULL DEFAULT 0 CHECK (sync_errors >= 0),
    is_online            INTEGER NOT NULL DEFAULT 0 CHECK (is_online IN (0, 1)),
    last_event_sent_at   TEXT,
    last_sync_at         TEXT,
    cached_state         TEXT,
    latest_skill_version TEXT,
    blocked_events       INTEGER NOT NULL DEFAULT 0 CHECK (blocked_events >= 0)
) STRICT;

INSERT INTO sync (one, status) VALUES (1, 'unregistered');

-- Events that wait: `seq` is their number among the recorded lines, `failures` counts sendings that came to nothing,
-- `due_at` is when the next one may be; null: never tried, so at once.
CREATE TABLE queue (
    seq      INTEGER PRIMARY KEY CHECK (seq >= 1),
    body     TEXT NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    due_at   TEXT,
    CHECK ((failures = 0) = (due_at IS NULL))
) STRICT;

-- What was dropped, refused or blocked, and why: the local log.
CREATE TABLE journal (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at     TEXT NOT NULL,
    code   TEXT NOT NULL,
    events INTEGER NOT NULL CHECK (events >= 0),
    status INTEGER
) STRICT;

-- What happens once per session and has happened: a notice that was told, the one retry of an opened circuit.
CREATE TABLE once (
    session TEXT NOT NULL,
    what    TEXT NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (session, what)
) STRICT, WITHOUT ROWID;
