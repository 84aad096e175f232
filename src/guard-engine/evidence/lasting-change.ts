import { parse } from 'unbash'
import type { GuardedAgent } from '../../core/hook-event.ts'
import { walkScript } from './walk-shell.ts'

/** Agents whose calls share one shell: what a call defines or exports is still there in the next one. */
export const shellKeepers: ReadonlySet<GuardedAgent> = new Set(['copilot'])

/** What `Note.warned` is about when such a shell can no longer be trusted. */
export const changedShell = 'shell-changed'

/** Does this call leave a shell in which commands may mean something else? */
export function leavesChange(script: string): boolean {
  if (!suspicious.test(script)) return false
  const parsed = parse(script)
  if (parsed.errors !== undefined) return true
  const start = { directory: null, pipefail: false, changed: null }
  return walkScript(parsed, { sought: [], start, isRoot: () => false }).state.changed !== null
}

const suspicious =
  /[=$(]|\b(?:alias|eval|source|trap|shopt|set|hash|enable|function|builtin|bind|unset|setopt)\b|(?:^|[;&|\s])\.\s/
