CREATE TABLE tasks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, repository TEXT NOT NULL, description TEXT NOT NULL,
  state TEXT NOT NULL, created_at TEXT NOT NULL, started_at TEXT, completed_at TEXT,
  dry_run INTEGER NOT NULL, verbose INTEGER NOT NULL, run_ids TEXT NOT NULL DEFAULT '[]', task_run_id TEXT,
  current_attempt INTEGER NOT NULL DEFAULT 0, phase TEXT, summary TEXT, error_message TEXT, options TEXT NOT NULL, metrics TEXT,
  owner TEXT, deaths INTEGER NOT NULL DEFAULT 0, cancel_requested INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX tasks_by_state ON tasks (state, seq);
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, task_id TEXT NOT NULL, level TEXT NOT NULL, event TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_task ON events (task_id, id);
CREATE INDEX milestones ON events (id) WHERE level = 'milestone';
