CREATE TABLE meta (version INTEGER NOT NULL);
CREATE TABLE blobs (hash TEXT PRIMARY KEY, bytes BYTEA NOT NULL);
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  plan_hash TEXT NOT NULL,
  document TEXT NOT NULL,
  project TEXT NOT NULL,
  planned INTEGER NOT NULL,
  created_ms BIGINT NOT NULL,
  cap_usd DOUBLE PRECISION,
  spent_usd DOUBLE PRECISION NOT NULL,
  reserved_usd DOUBLE PRECISION NOT NULL,
  is_open INTEGER NOT NULL,
  settled INTEGER NOT NULL
);
CREATE TABLE trials (
  run TEXT NOT NULL,
  id TEXT NOT NULL,
  lease TEXT NOT NULL UNIQUE,
  lane TEXT NOT NULL,
  grp TEXT NOT NULL,
  spec TEXT NOT NULL,
  state TEXT NOT NULL,
  worker TEXT,
  attempts INTEGER NOT NULL,
  reserved_usd DOUBLE PRECISION NOT NULL,
  settled_no INTEGER,
  record TEXT,
  archive TEXT,
  cost_usd DOUBLE PRECISION,
  why TEXT,
  PRIMARY KEY (run, id)
);
CREATE INDEX trials_settled ON trials (run, settled_no);
CREATE INDEX trials_state ON trials (state, grp);
CREATE TABLE lanes (name TEXT PRIMARY KEY, need TEXT NOT NULL);
CREATE TABLE pauses (grp TEXT PRIMARY KEY, until_ms BIGINT, reason TEXT NOT NULL);
CREATE TABLE limits (grp TEXT PRIMARY KEY, most INTEGER NOT NULL);
CREATE TABLE workers (
  id TEXT PRIMARY KEY,
  facts TEXT NOT NULL,
  started_ms BIGINT NOT NULL,
  seen_ms BIGINT NOT NULL,
  is_draining INTEGER NOT NULL
);
