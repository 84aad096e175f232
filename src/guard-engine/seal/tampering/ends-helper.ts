import type { Tampering } from './attempt.ts'
import { nameOf, programAt } from './spoken-runs.ts'

/** Ending the hook or its resident helper. */
export const endsHelper: Tampering = ({ runs, text, call }) => {
  if (call.action.kind !== 'shell') return null
  const ends = runs.some((run) => programAt(run, (name) => killers.has(name)) >= 0)
  if (!ends) return null
  const byName = runs.some((run) => {
    const at = programAt(run, (name) => name === 'pkill' || name === 'killall' || name === 'skill')
    return (
      at >= 0 && run.words.slice(at + 1).some((word) => /gantry|hook-bin/i.test(nameOf(word) + (word ?? '')))
    )
  })
  return byName ||
    /hook-bin|pgrep[^;|&\n]*gantry|gantry[ -]guard|guard\.sock|gantry-hook|[\w/]*guard[\w-]*\.pid/.test(text)
    ? "it would end the guard's own processes"
    : null
}

const killers = new Set([
  'kill',
  'pkill',
  'killall',
  'skill',
  'fuser',
  'xargs',
  'systemctl',
  'taskkill',
  'stop-process',
])
