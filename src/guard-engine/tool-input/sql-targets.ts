/** Files that statements of SQL write to. */
export function sqlTargets(statement: string): readonly string[] {
  return [...statement.matchAll(writes)].map(([, path = '']) => path)
}

/** PostgreSQL and DuckDB copy to a file, MySQL selects into one, SQLite makes one of a database. */
const writes =
  /\b(?:copy\b[^;]*?\bto|into\s+(?:out|dump)file|vacuum\b[^;']*\binto|attach(?:\s+database)?|export\s+database)\s+'([^'\n]+)'/gi
