import { parse } from 'unbash'
import { walkScript } from '../../shell/walk-script.ts'

/** The subject of the `warned` note when an agent's persistent shell can no longer be trusted. */
export const changedShell = 'shell-changed'

/** Whether this call leaves a shell in which commands may have another meaning. */
export function leavesLastingChange(script: string): boolean {
  if (!suspicious.test(script)) return false
  const parsed = parse(script)
  if (parsed.errors !== undefined) return true
  const start = { directory: null, pipefail: false, changed: null }
  const reader = { substitutions: false, command: () => ({ found: [], isOther: false }) }
  return walkScript(parsed, start, reader).state.changed !== null
}

const suspicious =
  /[=$(]|\b(?:alias|eval|source|trap|shopt|set|hash|enable|function|builtin|bind|unset|setopt)\b|(?:^|[;&|\s])\.\s/
