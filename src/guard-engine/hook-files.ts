/** The file in a project that has the guard's hooks, by agent. `test/guard-docs.test.ts` compares it with the installers. */
export const projectHookFiles = [
  ['claude-code', '.claude/settings.local.json'],
  ['codex', '.codex/hooks.json'],
  ['gemini', '.gemini/settings.json'],
  ['copilot', '.github/hooks/gantry.json'],
  ['cursor', '.cursor/hooks.json'],
  ['opencode', '.opencode/plugins/gantry-guard.js'],
] as const

/** Whether a text starts the guard, in any version and any format. */
export function startsGuard(text: string): boolean {
  return /gantry-hook\.cjs|hook-bin\.[jt]s|gantry-guard/.test(text)
}

/** First line of what `install` adds to git's list of ignored files. */
export const excludeTitle = '# Gantry guard: hooks with paths of this machine'
export const backupEnding = '.gantry-backup-*'

/** A list of ignored files without the lines of the guard: they hide nothing of the work. */
export function withoutGuardLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => line !== excludeTitle && !isGuardLine(line))
    .join('\n')
}

function isGuardLine(line: string): boolean {
  const path = line.endsWith(backupEnding) ? line.slice(0, -backupEnding.length) : line
  return [...projectHookFiles.map(([, file]) => file), '.codex/config.toml'].some(
    (file) => path === `/${file}` || (path.startsWith('/') && path.endsWith(`/${file}`)),
  )
}
