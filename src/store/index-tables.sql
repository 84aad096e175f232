DROP TABLE IF EXISTS runs;
DROP TABLE IF EXISTS trials;
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, status TEXT NOT NULL,
  started_at TEXT NOT NULL, ended_at TEXT, pinned INTEGER NOT NULL, blessed INTEGER NOT NULL, stuck INTEGER NOT NULL,
  trials INTEGER, pass INTEGER, fail INTEGER, infra INTEGER, invalid INTEGER, not_run INTEGER, cached INTEGER,
  cost_usd REAL, unmetered_trials INTEGER, duration_ms INTEGER, stamp TEXT NOT NULL
) STRICT;
CREATE TABLE trials (
  run_id TEXT NOT NULL, trial_id TEXT NOT NULL, "case" TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL,
  attempt INTEGER NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, score REAL, cost_usd REAL,
  duration_ms REAL NOT NULL, started_at TEXT NOT NULL, cached_from TEXT, cache_key TEXT, tags TEXT,
  input_tokens INTEGER, output_tokens INTEGER,
  PRIMARY KEY (run_id, trial_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trials_by_case ON trials ("case", agent, model, started_at);
