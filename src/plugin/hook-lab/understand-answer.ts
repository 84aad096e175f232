import { shorten } from '../../core/shorten.ts'
import type { HandlerRun, HookDecision, HookEffect } from './contract.ts'
import { canRefuse, exitTwoOf, plainTextOf } from './event-effects.ts'
import type { LabFinding } from './finding-log.ts'
import { type JsonAnswer, readStdout } from './read-stdout.ts'

export interface AnswerContext {
  readonly event: string
  /** The handler as written. */
  readonly handler: Readonly<Record<string, unknown>>
  /** false: nothing shows that it is meant to refuse anything. Default: true. */
  readonly isGuard?: boolean
  /** The lab stopped waiting before the handler's own timeout. */
  readonly isCut?: boolean
}

/** Claude Code puts longer texts into a file and shows the model only the beginning. */
const longestText = 10_000

/** How Claude Code would treat the output and exit of a handler. */
export function understandAnswer(run: HandlerRun, context: AnswerContext): HookEffect {
  const { event, handler } = context
  const understood = effectOf(run, context)
  const isDecision = understood.decision !== 'none' && understood.decision !== 'context'
  if (handler.async === true && isDecision) {
    const late: LabFinding = {
      code: 'HOOK_ASYNC_CANNOT_DECIDE',
      detail: `its decision is ${understood.decision}`,
    }
    return { decision: 'none', text: understood.text, noticed: [...understood.noticed, late] }
  }
  const failed = understood.noticed.find(({ code }) => failures.has(code))
  if (
    failed === undefined ||
    handler.onFailure !== 'block' ||
    understood.decision !== 'none' ||
    !canRefuse(event)
  )
    return understood
  const decision = exitTwoOf(event) === 'deny' ? 'deny' : 'block'
  return { ...understood, decision, text: `failed; blocking because onFailure is "block": ${failed.detail}` }
}

/** Text that is not JSON is not a failure. */
const failures: ReadonlySet<string> = new Set([
  'HOOK_FAILS_OPEN',
  'HOOK_CRASHES',
  'HOOK_HANGS',
  'HOOK_TIMES_OUT',
  'HOOK_PROGRAM_MISSING',
  'HOOK_NOT_EXECUTABLE',
  'HOOK_NEEDS_TTY',
  'HOOK_OUTPUT_INVALID',
  'HOOK_WRONG_EVENT_NAME',
  'HOOK_OUTPUT_NOT_ALLOWED',
])

function effectOf(run: HandlerRun, context: AnswerContext): HookEffect {
  const { ending } = run
  const { event } = context
  const failed = whyFailed(run, context)
  if (ending.kind === 'exited') return withExitCode(run, event, ending.exitCode, failed)
  // A model switch waits for its hook and does not happen without an answer.
  const isRefused = ending.kind === 'timed_out' && event === 'PreModelSwitch'
  return { decision: isRefused ? 'deny' : 'none', text: null, noticed: failed === null ? [] : [failed] }
}

function withExitCode(run: HandlerRun, event: string, code: number, failed: LabFinding | null): HookEffect {
  const stdout = readStdout(run.stdout, event)
  const noticed = [...stdout.noticed, ...tooLong(run, stdout.answer)]
  const exit2 = exitTwoOf(event)
  if (code === 2) {
    const meant = stdout.answer === null ? null : decisionOf(stdout.answer, event)
    const blocks = meant !== null && ['deny', 'block', 'context'].includes(meant.decision)
    const text = (blocks ? meant.text : null) ?? (run.stderr.trim() || null)
    if (exit2 === 'deny' || exit2 === 'block') return { decision: exit2, text, noticed }
    if (exit2 === 'feedback') return { decision: 'context', text, noticed }
    if (stdout.answer === null)
      return {
        decision: 'none',
        text: null,
        noticed: [...noticed, { code: 'HOOK_EXIT_IGNORED', detail: `exit code 2 has no effect on ${event}` }],
      }
  }
  if (stdout.answer !== null) {
    const { notes, ...meant } = decisionOf(stdout.answer, event)
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
  return { ...plainText(stdout.isText ? run.stdout : '', event), noticed }
}

function plainText(stdout: string, event: string): { decision: HookDecision; text: string | null } {
  const text = stdout.trim()
  const use = text === '' ? 'unused' : plainTextOf(event)
  if (use === 'unused') return { decision: 'none', text: null }
  if (use === 'path') return { decision: 'modify', text: text.split('\n').at(-1) ?? text }
  return { decision: 'context', text }
}

function tooLong({ stdout }: HandlerRun, answer: JsonAnswer | null): readonly LabFinding[] {
  const texts =
    answer === null
      ? [stdout.trim()]
      : [answer.systemMessage, answer.reason, ...Object.values(answer.hookSpecificOutput ?? {})]
  const longest = Math.max(0, ...texts.map((text) => (typeof text === 'string' ? text.length : 0)))
  return longest > longestText
    ? [{ code: 'HOOK_OUTPUT_TOO_LONG', detail: `a text of ${longest} characters` }]
    : []
}

interface AnswerDecision {
  readonly decision: HookDecision
  readonly text: string | null
  readonly change?: unknown
  readonly notes: readonly LabFinding[]
}

/** The decision of a valid answer; the strictest of its fields wins. */
function decisionOf(answer: JsonAnswer, event: string): AnswerDecision {
  const own: Readonly<Record<string, unknown>> = answer.hookSpecificOutput ?? {}
  const blocks = exitTwoOf(event) === 'deny' ? 'deny' : 'block'
  const reason = answer.reason ?? null
  const notes: LabFinding[] = []
  const permission = permissionOf(own)
  if (permission.decision === 'deny') return { decision: 'deny', text: permission.text, notes }
  if (answer.decision === 'block')
    return exitTwoOf(event) === 'feedback'
      ? { decision: 'context', text: reason, notes }
      : { decision: blocks, text: reason, notes }
  if (answer.continue === false) {
    if (event === 'PreToolUse')
      notes.push({ code: 'HOOK_CONTINUE_IS_NO_DENY', detail: '`continue` is false, and the tool runs first' })
    else if (event !== 'PreCompact') return { decision: 'block', text: answer.stopReason ?? null, notes }
  }
  if (permission.decision === 'ask') return { decision: 'ask', text: permission.text, notes }
  const change =
    own.updatedInput ??
    own.updatedToolOutput ??
    own.updatedMCPToolOutput ??
    own.displayContent ??
    own.worktreePath ??
    permission.change
  if (change !== undefined) return { decision: 'modify', text: permission.text, change, notes }
  if (typeof own.additionalContext === 'string')
    return { decision: 'context', text: own.additionalContext, notes }
  if (permission.decision === 'allow' || answer.decision === 'approve')
    return { decision: 'allow', text: permission.text ?? reason, notes }
  return { decision: 'none', text: answer.systemMessage ?? null, notes }
}

function permissionOf(own: Readonly<Record<string, unknown>>): {
  readonly decision: 'allow' | 'deny' | 'ask' | null
  readonly text: string | null
  readonly change?: unknown
} {
  const text = typeof own.permissionDecisionReason === 'string' ? own.permissionDecisionReason : null
  const { permissionDecision: said } = own
  if (said === 'allow' || said === 'deny' || said === 'ask') return { decision: said, text }
  if (said === 'defer') return { decision: 'ask', text }
  if (own.action === 'decline' || own.action === 'cancel') return { decision: 'deny', text }
  if (own.action === 'accept') return { decision: 'allow', text, change: own.content }
  const { decision } = own
  if (typeof decision !== 'object' || decision === null || !('behavior' in decision))
    return { decision: null, text }
  const message = 'message' in decision && typeof decision.message === 'string' ? decision.message : null
  if (decision.behavior === 'deny') return { decision: 'deny', text: message }
  return { decision: 'allow', text, ...('updatedInput' in decision && { change: decision.updatedInput }) }
}

/** Why a run failed; null when it succeeded. */
function whyFailed(
  { ending, stderr }: HandlerRun,
  { event, handler, isGuard = true, isCut = false }: AnswerContext,
): LabFinding | null {
  const words = shorten(stderr.trim().split('\n').at(-1) ?? '', 160)
  const fails = isGuard && handler.async !== true && canRefuse(event) ? 'HOOK_FAILS_OPEN' : 'HOOK_CRASHES'
  switch (ending.kind) {
    case 'exited': {
      const { exitCode } = ending
      if (exitCode === 0 || exitCode === 2) return null
      if (needsTerminal.test(stderr)) return { code: 'HOOK_NEEDS_TTY', detail: words }
      const missing = missingProgram.exec(stderr)?.[0]
      if (exitCode === 127 || missing !== undefined)
        return { code: 'HOOK_PROGRAM_MISSING', detail: missing ?? words }
      if (exitCode === 126) return { code: 'HOOK_NOT_EXECUTABLE', detail: words }
      return { code: fails, detail: `exit code ${exitCode}${words === '' ? '' : `: ${words}`}` }
    }
    case 'signalled':
      return { code: 'HOOK_CRASHES', detail: `it was ended by ${ending.signal}` }
    case 'timed_out':
      // Claude Code does not wait for a background hook, and one with a timeout ends by it.
      if (handler.async === true || isCut) return null
      if (typeof handler.command === 'string' && downloads.test(handler.command))
        return { code: 'HOOK_PROGRAM_MISSING', detail: `it was not downloaded within ${ending.limitMs} ms` }
      return {
        code: handler.timeout === undefined ? 'HOOK_HANGS' : 'HOOK_TIMES_OUT',
        detail: `no answer within ${ending.limitMs} ms`,
      }
    case 'not_started':
      return {
        code: ending.problem === 'not_executable' ? 'HOOK_NOT_EXECUTABLE' : 'HOOK_PROGRAM_MISSING',
        detail: ending.message,
      }
  }
}

/** Programs that first download what they start. */
const downloads = /(?:^|[;&|])\s*(?:npx|bunx|uvx|pnpm dlx|yarn dlx|pipx run)\b/

/** Error messages of shells and interpreters about something that is not installed. */
const missingProgram =
  /^.*(?:: command not found|: not found$|ModuleNotFoundError: |Cannot find (?:module|package) |spawn \S+ ENOENT|No such file or directory: ').*$/m

/** Error messages of programs that need a terminal. */
export const needsTerminal: RegExp = /\/dev\/tty|not a tty|inappropriate ioctl/i
