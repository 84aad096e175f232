import type { ToolCall } from '../../../core/hook-event.ts'
import { type Attempt, type AttemptPlace, attemptOf } from './attempt.ts'
import { tamperings } from './index.ts'
import { nameOf, programAt } from './spoken-runs.ts'

const maxDepth = 3
const maxScriptBytes = 256 * 1024

/** What a call would do to the guard, as a sentence; null when it leaves it alone. Scripts it runs are looked into. */
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

const shells = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'source', '.'])

/** Shell scripts that a call starts, as they are now. */
function scriptsOf(attempt: Attempt): readonly { readonly path: string; readonly text: string }[] {
  return attempt.runs.flatMap((run) => {
    const at = programAt(run, (name) => shells.has(name))
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
