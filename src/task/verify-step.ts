import type { VerifierResponse } from '../verifier/contract.ts'
import { loopLimits, milestones } from './contract.ts'
import type { KeptVerification } from './kept-verification.ts'
import { countVerification } from './loop/count.ts'
import { primaryFailure } from './reports/primary-failure.ts'
import { currentStrategy, goOn, type TaskInHand } from './task-in-hand.ts'

/** Verifies the tree as it is. One that was cut off is made again and counts once. */
export async function verifyStep(hand: TaskInHand): Promise<KeptVerification> {
  const { journal, emit, known, powers, states } = hand
  const attempt = known.attempts.length + 1
  const of = { attempt, max_attempts: loopLimits.hardStopAt }
  states.move('VERIFYING', `verification ${attempt}`)
  powers.onChange({ current_attempt: attempt })
  emit({ kind: 'milestone', milestone: 'verifying', text: milestones.verifying, ...of })
  const kept = await journal.step(`verify-${attempt}`, () => verify(hand, attempt))
  known.verification = kept
  known.counters = countVerification(known.counters, kept.status)
  known.attempts.push({
    attempt,
    runId: kept.runId,
    status: kept.status,
    primaryFailure: kept.failure,
    strategy: currentStrategy(hand),
    tree: kept.tree,
  })
  powers.onChange({ run_ids: runIdsOf(hand) })
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

export function runIdsOf({ known }: TaskInHand): readonly string[] {
  return known.attempts.flatMap(({ runId }) => (runId === null ? [] : [runId]))
}

async function verify(hand: TaskInHand, attempt: number): Promise<KeptVerification> {
  const { work, signal, emit, tree, powers } = hand
  goOn(hand)
  const state = await tree.take()
  const startedMs = performance.now()
  let runId: string | null = null
  const trigger = (id: string): void => {
    if (runId !== null) return
    runId = id
    emit({ kind: 'verifier_trigger', run_id: id, attempt })
  }
  const response = await work.verify(attempt, signal, {
    started: trigger,
    output: (text) => emit({ kind: 'verifier_output', run_id: runId ?? '', text }),
  })
  goOn(hand)
  if (response.run_id !== null) trigger(response.run_id)
  const log = powers.redaction.text(response.tail_log)
  return {
    status: response.status,
    runId: response.run_id,
    log,
    tree: state,
    durationMs: Math.round(performance.now() - startedMs),
    failure: failureOf(response, log),
    steps: (response.manifest?.commands_executed ?? []).map(({ name, command, duration_ms }) => ({
      name,
      command: powers.redaction.text(command),
      duration_ms,
    })),
    failedStep: response.failed_step ?? null,
    error:
      response.status === 'INFRA_ERROR'
        ? {
            type: response.error_type ?? 'unknown',
            message: powers.redaction.text(response.error_message ?? 'the Verifier did not say why'),
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
