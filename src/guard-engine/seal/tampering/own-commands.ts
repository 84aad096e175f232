import { nameOf, type PossibleRun, programAt, type Tampering } from './attempt.ts'

/** Commands of the guard that only a person may run, and the hook program itself, which would accept a made-up payload. */
export const ownCommands: Tampering = ({ runs, call, text }) => {
  for (const run of runs) {
    const command = personalCommand(run)
    if (command !== null) return `'gantry guard ${command}' is for a person, not for an agent`
    if (startsHook(run))
      return 'the hook program is started by the agent program alone: events cannot be made up'
  }
  const runsGuard = runs.some((run) => !run.onlyShows && programAt(run, (name) => name === 'gantry') >= 0)
  const misled = runsGuard && call.action.kind === 'shell' ? misleading.exec(text)?.[1] : undefined
  return misled === undefined ? null : `it would run the guard with another ${misled}`
}

/** What a run of the guard's own would find other settings or other programs by. */
const misleading =
  /\b(HARNESS_\w+|GANTRY_\w+|NODE_OPTIONS|LD_\w+|BASH_ENV|PATH|HOME|XDG_\w+|PYTHONPATH|GIT_\w+)=/

const personal = new Set(['unlock', 'waive', 'seal', 'install', 'uninstall', 'hook'])

function personalCommand({ words, loose, onlyShows }: PossibleRun): string | null {
  if (onlyShows) return null
  if (!loose && words.some((word) => word === '--help' || word === '-h' || word === '--dry-run')) return null
  for (const [index, word] of words.entries()) {
    const behindGantry = index > 0 && nameOf(words[index - 1]) === 'gantry'
    if (word !== 'guard' && !(word === null && behindGantry)) continue
    const next = words.slice(index + 1, index + 5)
    const found = next.find((candidate) => candidate !== null && personal.has(candidate))
    if (found !== undefined && found !== null) return found
    // The command is unknown: the worst one is assumed.
    if (behindGantry && next[0] === null) return 'unlock'
  }
  return null
}

const interpreters = new Set(['node', 'bun', 'deno', 'tsx'])

function startsHook(run: PossibleRun): boolean {
  const { words, loose } = run
  if (isHook(nameOf(words[0]))) return true
  const at = programAt(run, (name) => interpreters.has(name))
  if (at < 0) return false
  const script = words.slice(at + 1).find((word) => word !== null && !word.startsWith('-') && word !== 'run')
  return (
    (script !== undefined && isHook(nameOf(script))) ||
    (loose && words.slice(at).some((word) => isHook(nameOf(word))))
  )
}

function isHook(name: string): boolean {
  return name === 'hook-bin' || name === 'gantry-hook'
}
