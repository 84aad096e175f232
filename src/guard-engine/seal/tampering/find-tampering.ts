import type { ToolCall } from '../../../core/hook-event.ts'
import { shells } from '../../../shell/shell-call.ts'
import {
  type AttemptPlace,
  attemptOf,
  nameOf,
  programAt,
  type TamperAttempt,
  type Tampering,
} from './attempt.ts'
import { opensOwn, patchesOwn, touchesOwn } from './changes-own-files.ts'
import { hidesFromGit } from './hides-from-git.ts'
import { endsHelper, shadowsProgram, steeringVariables } from './misleads-hooks.ts'
import { namesOwn } from './names-own.ts'
import { ownCommands } from './own-commands.ts'
import { readsPrivate } from './reads-private.ts'
import { unguardedAgent } from './unguarded-agent.ts'

const maxDepth = 3
const maxScriptBytes = 256 * 1024

/** What a call would do to the guard, as a sentence; null when it leaves it alone. Scripts that it runs are read too. */
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

/** Shell scripts that a call starts, as they are now. */
function scriptsOf(attempt: TamperAttempt): readonly { readonly path: string; readonly text: string }[] {
  return attempt.runs.flatMap((run) => {
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
}

/** A shell or a file tool with unreadable input may do anything, also to the guard. */
export const unreadableCall: Tampering = ({ call }) => {
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

/** Every way to touch the guard that is looked for. */
const tamperings: readonly Tampering[] = [
  touchesOwn,
  readsPrivate,
  ownCommands,
  opensOwn,
  patchesOwn,
  unguardedAgent,
  steeringVariables,
  hidesFromGit,
  endsHelper,
  shadowsProgram,
  unreadableCall,
  namesOwn,
]
