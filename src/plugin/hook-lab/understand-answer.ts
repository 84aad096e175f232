import type { JsonAnswer } from './answer-schema.ts'
import type { HandlerRun, HookAnswer, HookDecision, Noticed } from './contract.ts'
import { canRefuse, powersOf } from './event-powers.ts'
import { opinion } from './opinion.ts'
import { readStdout } from './read-stdout.ts'
import { whyFailed } from './why-failed.ts'

export interface AnswerContext {
  readonly event: string
  /** The handler as it is written. */
  readonly handler: Readonly<Record<string, unknown>>
}

/** Longer texts are put into a file, of which the model sees the beginning only. */
const longestText = 10_000

/** What Claude Code would make of what a handler printed and of how it ended. */
export function understandAnswer(run: HandlerRun, context: AnswerContext): HookAnswer {
  const { event, handler } = context
  const heard = listen(run, event)
  const isOpinion = heard.decision !== 'none' && heard.decision !== 'context'
  if (handler.async === true && isOpinion) {
    const late: Noticed = { code: 'HOOK_ASYNC_CANNOT_DECIDE', detail: `it says ${heard.decision}` }
    return { decision: 'none', text: heard.text, noticed: [...heard.noticed, late] }
  }
  const failed = heard.noticed.find(({ code }) => failures.has(code))
  // That an error over HTTP is caught by it was never seen.
  const isCaught = handler.onFailure === 'block' && run.ending.kind !== 'answered'
  if (failed === undefined || !isCaught || heard.decision !== 'none' || !canRefuse(event)) return heard
  const decision = powersOf(event).exit2 === 'deny' ? 'deny' : 'block'
  return { ...heard, decision, text: `failed; blocking because onFailure is "block": ${failed.detail}` }
}

/** Text that is no JSON is none of them: it counts as success. */
const failures: ReadonlySet<string> = new Set([
  'HOOK_FAILS_OPEN',
  'HOOK_CRASHES',
  'HOOK_HANGS',
  'HOOK_PROGRAM_MISSING',
  'HOOK_NOT_EXECUTABLE',
  'HOOK_NEEDS_TTY',
  'HOOK_UNREACHABLE',
  'HOOK_OUTPUT_INVALID',
  'HOOK_WRONG_EVENT_NAME',
  'HOOK_OUTPUT_NOT_ALLOWED',
])

function listen(run: HandlerRun, event: string): HookAnswer {
  const { ending } = run
  const failed = whyFailed(run, event)
  switch (ending.kind) {
    case 'timed_out': {
      // A switch of the model waits for its hook and does not happen without it.
      const decision = event === 'PreModelSwitch' ? 'deny' : 'none'
      return { decision, text: null, noticed: [failed ?? { code: 'HOOK_HANGS', detail: '' }] }
    }
    case 'signalled':
    case 'not_started':
    case 'unreachable':
      return { decision: 'none', text: null, noticed: failed === null ? [] : [failed] }
    case 'answered': {
      const isGood = ending.status >= 200 && ending.status < 300
      if (!isGood) return { decision: 'none', text: null, noticed: failed === null ? [] : [failed] }
      return withExitCode(run, event, 0, failed)
    }
    case 'exited':
      return withExitCode(run, event, ending.exitCode, failed)
  }
}

function withExitCode(run: HandlerRun, event: string, code: number, failed: Noticed | null): HookAnswer {
  const said = readStdout(run.stdout, event)
  const noticed = [...said.noticed, ...tooLong(run, said.answer)]
  const { exit2 } = powersOf(event)
  if (code === 2) {
    const meant = said.answer === null ? null : opinion(said.answer, event)
    const blocks = meant !== null && ['deny', 'block', 'context'].includes(meant.decision)
    const text = (blocks ? meant.text : null) ?? (run.stderr.trim() || null)
    if (exit2 === 'deny' || exit2 === 'block') return { decision: exit2, text, noticed }
    if (exit2 === 'feedback') return { decision: 'context', text, noticed }
    if (said.answer === null)
      return {
        decision: 'none',
        text: null,
        noticed: [...noticed, { code: 'HOOK_EXIT_IGNORED', detail: `exit code 2 has no effect on ${event}` }],
      }
  }
  if (said.answer !== null) {
    const { notes, ...meant } = opinion(said.answer, event)
    return { ...meant, noticed: [...noticed, ...notes] }
  }
  if (code !== 0 && code !== 2) {
    const isRefused = event === 'WorktreeCreate'
    return {
      decision: isRefused ? 'block' : 'none',
      text: run.stderr.trim() || null,
      noticed: [...noticed, ...(failed === null ? [] : [failed])],
    }
  }
  return { ...plainText(said.isText ? run.stdout : '', event), noticed }
}

/** What a text that is no JSON does. */
function plainText(stdout: string, event: string): { decision: HookDecision; text: string | null } {
  const text = stdout.trim()
  if (text === '') return { decision: 'none', text: null }
  switch (powersOf(event).plainText) {
    case 'context':
    case 'summary':
      return { decision: 'context', text }
    case 'path':
      return { decision: 'modify', text: text.split('\n').at(-1) ?? text }
    case 'unused':
      return { decision: 'none', text: null }
  }
}

function tooLong({ stdout }: HandlerRun, answer: JsonAnswer | null): readonly Noticed[] {
  const texts =
    answer === null
      ? [stdout.trim()]
      : [answer.systemMessage, answer.reason, ...Object.values(answer.hookSpecificOutput ?? {})]
  const longest = Math.max(0, ...texts.map((text) => (typeof text === 'string' ? text.length : 0)))
  return longest > longestText
    ? [{ code: 'HOOK_OUTPUT_TOO_LONG', detail: `a text of ${longest} characters` }]
    : []
}
