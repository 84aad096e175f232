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
  dearest_usd DOUBLE PRECISION,
  open_trials INTEGER NOT NULL,
  settled INTEGER NOT NULL
);
CREATE TABLE trials (
  run TEXT NOT NULL,
  id TEXT NOT NULL,
  lease TEXT NOT NULL UNIQUE,
  lane TEXT NOT NULL,
  grp TEXT NOT NULL,
  priority INTEGER NOT NULL,
  spec TEXT NOT NULL,
  expected_usd DOUBLE PRECISION,
  state TEXT NOT NULL DEFAULT 'queued',
  worker TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  paused_ms BIGINT NOT NULL DEFAULT 0,
  reserved_usd DOUBLE PRECISION NOT NULL DEFAULT 0,
  begun_usd DOUBLE PRECISION NOT NULL DEFAULT 0,
  lost_usd DOUBLE PRECISION NOT NULL DEFAULT 0,
  settled_no INTEGER,
  record TEXT,
  archive TEXT,
  cost_usd DOUBLE PRECISION,
  why TEXT,
  PRIMARY KEY (run, id)
);
CREATE INDEX trials_settled ON trials (run, settled_no);
CREATE INDEX trials_waiting ON trials (lane, priority DESC) WHERE state = 'queued';
CREATE INDEX trials_running ON trials (grp) WHERE state = 'running';
CREATE TABLE lanes (name TEXT PRIMARY KEY, run TEXT NOT NULL, need TEXT NOT NULL);
CREATE INDEX lanes_run ON lanes (run);
CREATE TABLE pauses (grp TEXT PRIMARY KEY, until_ms BIGINT, reason TEXT NOT NULL);
CREATE TABLE limits (grp TEXT PRIMARY KEY, most INTEGER NOT NULL);
CREATE TABLE workers (
  id TEXT PRIMARY KEY,
  facts TEXT NOT NULL,
  started_ms BIGINT NOT NULL,
  seen_ms BIGINT NOT NULL,
  is_draining INTEGER NOT NULL
);
