export const agentFileName = 'agent.yaml'

/** What holds where agent.yaml does not tell. Apart from the schema, which takes longer to load than a small verification. */
export const agentFileDefaults = {
  workspace: 'readonly',
  network: 'none',
  limits: { memory: '8g', cpus: 4, pids: 1024 },
  verificationStepMs: 300_000,
  scoutQueryMs: 60_000,
} as const

/** Timers of the system cannot wait longer. */
export const maxTimeoutMs = 2_147_483_647

/** Where the Verifier leads what tests write; not for the user to change, because the directories are made for them. */
export const reservedVariables: readonly string[] = ['TMPDIR', 'TEST_DB_PATH', 'SNAPSHOT_DIR']
