import type { ToolCall } from '../../../core/hook-event.ts'
import { shells } from '../../../shell/shell-call.ts'
import {
  type AttemptPlace,
  attemptOf,
  nameOf,
  type PossibleRun,
  programAt,
  type TamperAttempt,
  type Tampering,
} from './attempt.ts'
import { changesGuardedFiles, opensGuardedFiles, patchesGuardedFiles } from './changes-guarded-files.ts'
import { hidesFromGit } from './hides-from-git.ts'
import { endsHelper, shadowsProgram, steeringVariables } from './misleads-hooks.ts'
import { namesOwn } from './names-own.ts'
import { readsPrivate } from './reads-private.ts'
import { unguardedAgent } from './unguarded-agent.ts'

/** Guard commands that only a person may run, and the hook program itself, which would accept a forged payload. */
const runsGuardCommand: Tampering = ({ runs, call, text }) => {
  for (const run of runs) {
    const command = personalCommand(run)
    if (command !== null) return `only a person may run 'gantry guard ${command}'`
    if (startsHook(run)) return 'only the agent program may start the hook program: events must not be forged'
  }
  const runsGuard = runs.some((run) => !run.onlyShows && programAt(run, (name) => name === 'gantry') >= 0)
  const misled = runsGuard && call.action.kind === 'shell' ? misleading.exec(text)?.[1] : undefined
  return misled === undefined ? null : `it would run the guard with another ${misled}`
}

/** Variables that make the guard use other settings or other programs. */
const misleading =
  /\b(HARNESS_\w+|GANTRY_\w+|NODE_OPTIONS|PERL\w+|LD_\w+|BASH_ENV|PATH|HOME|XDG_\w+|PYTHONPATH|GIT_\w+)=/

const personal = new Set(['unlock', 'waive', 'seen', 'seal', 'install', 'uninstall', 'hook'])

function personalCommand({ words, loose, onlyShows }: PossibleRun): string | null {
  if (onlyShows) return null
  if (!loose && words.some((word) => word === '--help' || word === '-h' || word === '--dry-run')) return null
  for (const [index, word] of words.entries()) {
    const behindGantry = index > 0 && nameOf(words[index - 1]) === 'gantry'
    if (word !== 'guard' && !(word === null && behindGantry)) continue
    const next = words.slice(index + 1, index + 5)
    const found = next.find((candidate) => candidate !== null && personal.has(candidate))
    if (found !== undefined && found !== null) return found
    // The command is unknown, so the worst one is assumed.
    if (behindGantry && next[0] === null) return 'unlock'
  }
  return null
}

const interpreters = new Set(['node', 'bun', 'deno', 'tsx', 'perl'])

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

const maxDepth = 3
const maxScriptBytes = 256 * 1024

/** What a call would do to the guard, as a sentence; null when it does nothing. Scripts that it runs are checked too. */
export function findTampering(call: ToolCall, place: AttemptPlace, depth = 0): string | null {
  const attempt = attemptOf(call, place)
  for (const look of tamperings) {
    const found = look(attempt)
    if (found !== null) return found
  }
  if (depth >= maxDepth) return null
  for (const { path, text } of scriptsOf(attempt)) {
    const action = { kind: 'shell', command: text, background: false, language: 'bash' } as const
    const found = findTampering({ ...call, action, input: {} }, place, depth + 1)
    if (found !== null) return `${path} would be run: ${found}`
  }
  return null
}

/** Current content of the shell scripts that a call starts. */
function scriptsOf(attempt: TamperAttempt): readonly { readonly path: string; readonly text: string }[] {
  const isShell = attempt.call.action.kind === 'shell'
  const aliases = [...(isShell ? attempt.text.matchAll(gitSetting) : [])].map(
    ([, path = '', , text = '']) => {
      const isAlias = path.startsWith('alias.') || /\bGIT_CONFIG_KEY_\d+=['"]?alias\./.test(attempt.text)
      return { path, text: text.startsWith('!') || !isAlias ? text.replace(/^!/, '') : `git ${text}` }
    },
  )
  const scripts = attempt.runs.flatMap((run) => {
    const at = programAt(run, (name) => shells.has(name) || name === 'source' || name === '.')
    const direct = at < 0 && !run.loose && run.words[0]?.includes('/') === true
    const script = direct
      ? run.words[0]
      : run.words.slice(at + 1).find((word) => word === null || !word.startsWith('-'))
    if (script === undefined || script === null || (at < 0 && !direct)) return []
    return attempt.pathsOf(script).flatMap((path) => {
      const text = attempt.world.readText(path, maxScriptBytes)
      if (text === null || (direct && !/^#!.*\b(ba|z|da|k)?sh\b/.test(text))) return []
      return [{ path: nameOf(script) === '' ? path : script, text }]
    })
  })
  return [...aliases, ...scripts]
}

/** An alias, and a value in the environment that git may run: `git -c alias.x='clean -fdx'`, `GIT_CONFIG_VALUE_0='!rm x'`. */
const gitSetting = /\b(alias\.[\w-]+(?=[= ])|GIT_CONFIG_VALUE_\d+(?==))[= ](['"])([^'"\n]{1,1000})\2/g

/** A shell or a file tool with unreadable input may do anything, including to the guard. */
const unreadableCall: Tampering = ({ call }) => {
  if (call.action.kind !== 'unknown' || call.action.server !== null) return null
  if (shellTools.test(call.tool)) return `what ${call.tool} would run cannot be read`
  if (fileTools.test(call.tool) && !namesPath(call.input))
    return `which file ${call.tool} would change cannot be read`
  return null
}

const shellTools = /^(?:bash|shell|powershell|run_shell_command|local_shell)$/i
const fileTools = /^(?:write|edit|multiedit|notebookedit|write_file|apply_patch)$/i

function namesPath(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false
  return Object.entries(input).some(
    ([key, value]) =>
      /path|file|uri|name|patch|input/i.test(key) && typeof value === 'string' && value !== '',
  )
}

/** Every check for tampering. */
const tamperings: readonly Tampering[] = [
  changesGuardedFiles,
  readsPrivate,
  runsGuardCommand,
  opensGuardedFiles,
  patchesGuardedFiles,
  unguardedAgent,
  steeringVariables,
  hidesFromGit,
  endsHelper,
  shadowsProgram,
  unreadableCall,
  namesOwn,
]
