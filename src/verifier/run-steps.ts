import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { type Evidence, type EvidenceKind, evidenceStatus } from '../core/evidence.ts'
import { kindOfCommand } from '../core/kind-of-command.ts'
import type { Redaction } from '../core/redaction.ts'
import { countTests, unnamedFiles } from '../core/test-output/count-tests.ts'
import { failureOf } from '../guard-engine/evidence/judge-run.ts'
import { monotonicMs } from '../io/clock.ts'
import type { Sandbox, SandboxFailure, SandboxStepEnd } from '../sandboxes/contract.ts'
import type { ExecutedCommand } from '../store/contract.ts'
import type { FailedStep, VerificationStep, VerifyEvent, VerifyRequest } from './contract.ts'
import type { Phase } from './open-phases.ts'
import { formatSize } from './parse-size.ts'
import { stepEnv } from './step-env.ts'
import type { StepLog, VerifyLogs } from './verify-logs.ts'

export interface StepsRequest {
  readonly request: VerifyRequest
  readonly sandbox: Sandbox
  readonly logs: VerifyLogs
  readonly redaction: Redaction
  readonly treeHash: string
  readonly phase: Phase
  /** Called when all processes of the last step have ended, before its result is evaluated. */
  readonly onLastEnd: () => void
  /** Of the phases before. */
  readonly known: Pick<StepsOutcome, 'executed' | 'evidence'>
}

export interface StepsOutcome {
  readonly executed: readonly ExecutedCommand[]
  readonly evidence: readonly Evidence[]
  readonly end:
    | { readonly kind: 'passed' }
    | {
        readonly kind: 'failed'
        readonly step: FailedStep
        readonly fakeGreen: string | null
        readonly output: string
      }
    | { readonly kind: 'infra'; readonly failure: SandboxFailure }
    | { readonly kind: 'cancelled' }
}

/** Runs all steps in order, until the first that does not succeed. Each is in the manifest as soon as it has ended. */
export async function runSteps(steps: StepsRequest): Promise<StepsOutcome> {
  const { request, redaction } = steps
  const executed: ExecutedCommand[] = [...steps.known.executed]
  const evidence: Evidence[] = [...steps.known.evidence]
  for (const [at, step] of steps.phase.steps.entries()) {
    const index = steps.phase.first + at
    if (request.signal.aborted) return { executed, evidence, end: { kind: 'cancelled' } }
    report(request, { kind: 'step_started', index, step: redacted(step, redaction) })
    const { end, log, kind, startedAt, durationMs } = await runStep(steps, index, step)
    const timedOut = end.kind === 'timed_out'
    const killed = end.kind === 'exceeded' ? `killed at ${formatSize(end.bytes)} of ${end.limit}` : null
    const exitCode = end.kind === 'exited' ? end.exitCode : timedOut ? 124 : killed === null ? null : 137
    const { name, command: text } = redacted(step, redaction)
    const command: ExecutedCommand = { name, command: text, exit_code: exitCode, duration_ms: durationMs }
    executed.push(command)
    request.run.change({ commands_executed: executed })
    report(request, { kind: 'step_ended', index, command, timedOut })
    if (end.kind === 'failed') return { executed, evidence, end: { kind: 'infra', failure: end.failure } }
    if (exitCode === null) return { executed, evidence, end: { kind: 'cancelled' } }
    const facts = { treeHash: steps.treeHash, startedAt, durationMs }
    const judged = judgeStep({ ...facts, kind, command: text, exitCode, output: log.text() })
    evidence.push(judged.evidence)
    if (exitCode !== 0 || judged.fakeGreen !== null) {
      const failed = { ...command, index, timed_out: timedOut, ...(killed !== null && { killed }) }
      const end = { kind: 'failed', step: failed, fakeGreen: judged.fakeGreen, output: log.text() } as const
      return { executed, evidence, end }
    }
  }
  return { executed, evidence, end: { kind: 'passed' } }
}

interface RanStep {
  readonly end: SandboxStepEnd
  readonly log: StepLog
  readonly kind: EvidenceKind
  readonly startedAt: string
  readonly durationMs: number
}

async function runStep(
  { request, sandbox, logs, redaction, onLastEnd }: StepsRequest,
  index: number,
  step: VerificationStep,
): Promise<RanStep> {
  const { setup = [], steps } = request.config
  const count = setup.length + steps.length
  const log = logs.openStep(index, count, step)
  const startedAt = new Date().toISOString()
  const startedMs = monotonicMs()
  const broken = new AbortController()
  let lost: GantryError | null = null
  const show = (text: string): void => {
    if (text !== '') request.onEvent?.({ kind: 'step_output', index, text })
  }
  const running = sandbox.run({
    command: step.command,
    env: stepEnv(request.config),
    timeoutMs: step.timeoutMs,
    signal: AbortSignal.any([request.signal, broken.signal]),
    output: (chunk) => {
      if (lost !== null) return
      try {
        show(log.output(chunk))
      } catch (error) {
        // It must not be thrown into the engine, and without its log the step does not count.
        if (!(error instanceof GantryError)) throw error
        lost = error
        broken.abort()
      }
    },
  })
  request.onIdle?.()
  // Determined while the step runs.
  const kind = kindOfCommand(redaction.text(step.command))
  const end = await running
  const durationMs = Math.round(monotonicMs() - startedMs)
  if (index === count - 1) onLastEnd()
  const real = lost === null ? end : { kind: 'failed' as const, failure: lostLog(lost) }
  try {
    show(log.finish(endingOf(real, step, redaction)))
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return { end: { kind: 'failed', failure: lostLog(error) }, log, kind, startedAt, durationMs }
  }
  return { end: real, log, kind, startedAt, durationMs }
}

function endingOf(
  end: SandboxStepEnd,
  { timeoutMs }: VerificationStep,
  { text }: Redaction,
): readonly string[] {
  switch (end.kind) {
    case 'exited':
      return [`--- exit code: ${end.exitCode} ---`]
    case 'timed_out':
      return [`--- timed out after ${timeoutMs} ms: the step was ended ---`, '--- exit code: 124 ---']
    case 'exceeded':
      return [
        `--- killed at ${formatSize(end.bytes)} of ${end.limit}: raise limits.${end.limit} in agent.yaml, or use less ---`,
        '--- exit code: 137 ---',
      ]
    case 'cancelled':
      return ['--- cancelled ---']
    case 'failed':
      return [`--- infrastructure error: ${end.failure.type}: ${text(end.failure.message)} ---`]
  }
}

function lostLog(error: GantryError): SandboxFailure {
  const type = error.code === 'NO_SPACE' ? 'resource_exhaustion' : 'unknown'
  return { type, message: `the log could not be written: ${error.message}` }
}

function redacted(step: VerificationStep, { text }: Redaction): VerificationStep {
  return { ...step, name: text(step.name), command: text(step.command) }
}

function report({ run, onEvent }: VerifyRequest, event: VerifyEvent): void {
  run.appendEvent({ at: new Date().toISOString(), ...event })
  onEvent?.(event)
}

type EndedStep = Pick<Evidence, 'command' | 'exitCode' | 'treeHash' | 'startedAt' | 'durationMs'> & {
  readonly output: string
  /** If it is known already. */
  readonly kind?: EvidenceKind
}

/**
 * What a step proves. An exit code counts only if the output of the test framework agrees with it. `fakeGreen`: why exit
 * code 0 is not a success; null for a success and for a real failure.
 */
export function judgeStep({ output, kind: known, ...step }: EndedStep) {
  const kind = known ?? kindOfCommand(step.command)
  // Lint and builds may print a foreign summary, and have no tests.
  const hasNoTests = kind === 'lint' || kind === 'build' || output === ''
  const counts = hasNoTests ? null : countTests(output)
  const evidence: Evidence = {
    ...step,
    kind,
    ...(counts !== null && {
      ...(!counts.isPartial && { executed: counts.executed, skipped: counts.skipped }),
      ...(counts.failed > 0 && { failed: counts.failed }),
    }),
    ...(!hasNoTests && { ...failureOf(step.exitCode, output), unnamed: unnamedFiles(output) }),
  }
  return { evidence, fakeGreen: step.exitCode === 0 ? fakeGreenOf(evidence) : null }
}

function fakeGreenOf(evidence: Evidence): string | null {
  const { failed = 0, skipped = 0 } = evidence
  switch (evidenceStatus([evidence], evidence)) {
    case 'red':
      return `it ended with exit code 0, but its output shows ${counted(failed, 'failed test')}`
    case 'hollow':
      return skipped === 0
        ? 'it ended with exit code 0, but no test was executed'
        : `it ended with exit code 0, but all ${skipped} tests were skipped`
    default:
      return null
  }
}
