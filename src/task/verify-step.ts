import { stripVTControlCharacters } from 'node:util'
import { shorten } from '../core/shorten.ts'
import type { VerifierResponse } from '../verifier/contract.ts'
import {
  type ActiveTask,
  currentStrategy,
  type KeptVerification,
  throwIfStopped,
  verificationRuns,
} from './active-task.ts'
import { loopLimits, milestones } from './contract.ts'
import { countVerification } from './loop-counters.ts'

/** Verifies the current tree. A verification that was interrupted is repeated and counts once. */
export async function verifyStep(active: ActiveTask): Promise<KeptVerification> {
  const { journal, emit, known, context, states } = active
  const attempt = known.attempts.length + 1
  const of = { attempt, max_attempts: loopLimits.hardStopAt }
  states.move('VERIFYING', `verification ${attempt}`)
  context.onChange({ current_attempt: attempt })
  emit({ kind: 'milestone', milestone: 'verifying', text: milestones.verifying, ...of })
  const kept = await journal.step(`verify-${attempt}`, () => verify(active, attempt))
  known.verification = kept
  known.counters = countVerification(known.counters, kept.status)
  known.attempts.push({
    attempt,
    runId: kept.runId,
    status: kept.status,
    primaryFailure: kept.failure,
    strategy: currentStrategy(active),
    tree: kept.tree,
  })
  context.onChange({ run_ids: verificationRuns(active) })
  emit({
    kind: 'verifier_result',
    run_id: kept.runId,
    attempt,
    status: kept.status,
    duration_ms: kept.durationMs,
    failure: kept.failure,
  })
  if (kept.status === 'PASS')
    emit({ kind: 'milestone', milestone: 'verified', text: milestones.verified, ...of })
  if (kept.status === 'FAIL') emit({ kind: 'milestone', milestone: 'failed', text: milestones.failed, ...of })
  return kept
}

async function verify(active: ActiveTask, attempt: number): Promise<KeptVerification> {
  const { tools, signal, emit, tree, context } = active
  throwIfStopped(active)
  const state = await tree.take()
  const startedMs = performance.now()
  let runId: string | null = null
  const trigger = (id: string): void => {
    if (runId !== null) return
    runId = id
    emit({ kind: 'verifier_trigger', run_id: id, attempt })
  }
  const response = await tools.verify(attempt, signal, {
    started: trigger,
    output: (text) => emit({ kind: 'verifier_output', run_id: runId ?? '', text }),
  })
  throwIfStopped(active)
  if (response.run_id !== null) trigger(response.run_id)
  const log = context.redaction.text(response.tail_log)
  return {
    status: response.status,
    runId: response.run_id,
    log,
    tree: state,
    durationMs: Math.round(performance.now() - startedMs),
    failure: failureOf(response, log),
    steps: (response.manifest?.commands_executed ?? []).map(({ name, command, duration_ms }) => ({
      name,
      command: context.redaction.text(command),
      duration_ms,
    })),
    failedStep: response.failed_step ?? null,
    error:
      response.status === 'INFRA_ERROR'
        ? {
            type: response.error_type ?? 'unknown',
            message: context.redaction.text(response.error_message ?? 'the Verifier did not say why'),
          }
        : null,
  }
}

/** Never the line with the exit code: what says most about the failure. */
function failureOf(response: VerifierResponse, log: string): string | null {
  if (response.status === 'PASS') return null
  if (response.status === 'INFRA_ERROR') return response.error_message ?? null
  if (response.fake_green !== undefined) return response.fake_green
  if (response.failed_step?.timed_out === true) return `step "${response.failed_step.name}" timed out`
  return primaryFailure(log)
}

const maxChars = 300

/** Strongest first. Of several lines of the strongest kind found the first is taken: what follows is mostly its consequence. */
const kinds: readonly RegExp[] = [
  /^(?:Uncaught |Unhandled )?(?:[A-Za-z_][\w.]*)?(?:Error|Exception|Failure|Panic)\b(?: \[[\w]+\])?:/,
  /^E {2,}\S|^(?:thread '.*' )?panicked at|^panic:|\bAssertion .*failed\b|^AssertionError\b/i,
  /\berror(?: TS\d+|\[E\d+\])?: |: (?:fatal )?error: |\bundefined reference to\b|\bSyntaxError\b/,
  /^\s*(?:not ok|✗|✖|×|--- FAIL:|FAIL(?:ED)?\b)\s*\S/,
  /\bcommand not found\b|\bNo such file or directory\b|\bcannot find (?:module|package)\b|\bPermission denied\b|\bSegmentation fault\b|\bKilled\b/i,
  /\btimed out\b|\btimeout\b/i,
  /\b(?:fail(?:ed|ure|ing)?|errors?|cannot|unexpected|not found)\b/i,
]

/** What frames the output in a log of the Verifier says nothing about the failure. */
const frame = /^(?:=+|-{3,}(?: exit code\b.*)?$|\$ |#{1,3} |exit code\b|command\b:?|step \d+)/i
const harmless = /\b0 (?:errors?|failed|failures)\b|\bno errors\b/i

/** The line of a log that says most about why it failed; null when the log is empty. */
export function primaryFailure(log: string): string | null {
  const lines = stripVTControlCharacters(log)
    .split(/\r\n|[\n\r]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const told = lines.filter((line) => !frame.test(line) && !harmless.test(line))
  for (const kind of kinds) {
    const found = told.find((line) => kind.test(line))
    if (found !== undefined) return shorten(found, maxChars)
  }
  const last = told.at(-1) ?? lines.at(-1)
  return last === undefined ? null : shorten(last, maxChars)
}
