import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { type Evidence, evidenceStatus } from '../core/evidence.ts'
import { kindOfCommand } from '../core/kind-of-command.ts'
import type { Redaction } from '../core/redaction.ts'
import { countTests } from '../core/test-output/count-tests.ts'
import { monotonicMs } from '../io/clock.ts'
import type { Sandbox, SandboxFailure, SandboxStepEnd } from '../sandboxes/contract.ts'
import type { ExecutedCommand } from '../store/contract.ts'
import { redirected } from './artifacts.ts'
import type { FailedStep, VerificationStep, VerifyEvent, VerifyRequest } from './contract.ts'
import type { StepLog, VerifyLogs } from './verify-logs.ts'

export interface StepsRequest {
  readonly request: VerifyRequest
  readonly sandbox: Sandbox
  readonly logs: VerifyLogs
  readonly redaction: Redaction
  readonly treeHash: string
  /** As soon as nothing of the last step runs any more, before anything is made of it. */
  readonly onLastEnd: () => void
}

export interface StepsOutcome {
  readonly executed: readonly ExecutedCommand[]
  readonly evidence: readonly Evidence[]
  readonly end:
    | { readonly kind: 'passed' }
    | { readonly kind: 'failed'; readonly step: FailedStep; readonly fakeGreen: string | null }
    | { readonly kind: 'infra'; readonly failure: SandboxFailure }
    | { readonly kind: 'cancelled' }
}

/** All steps in their order, until the first that does not succeed. Every one is in the manifest as soon as it has ended. */
export async function runSteps(steps: StepsRequest): Promise<StepsOutcome> {
  const { request, redaction } = steps
  const executed: ExecutedCommand[] = []
  const evidence: Evidence[] = []
  for (const [index, step] of request.config.steps.entries()) {
    if (request.signal.aborted) return { executed, evidence, end: { kind: 'cancelled' } }
    tell(request, { kind: 'step_started', index, step: redacted(step, redaction) })
    const ran = await runStep(steps, index, step)
    const command = executedCommand(redacted(step, redaction), ran)
    executed.push(command)
    request.run.change({ commands_executed: executed })
    const timedOut = ran.end.kind === 'timed_out'
    tell(request, { kind: 'step_ended', index, command, timedOut })
    const exitCode = command.exit_code
    if (ran.end.kind === 'failed')
      return { executed, evidence, end: { kind: 'infra', failure: ran.end.failure } }
    if (exitCode === null) return { executed, evidence, end: { kind: 'cancelled' } }
    const judged = judgeStep({ ...ended(steps, ran), command: command.command, exitCode })
    evidence.push(judged.evidence)
    if (exitCode !== 0 || judged.fakeGreen !== null) {
      const failed: FailedStep = { ...command, index, timed_out: timedOut }
      return { executed, evidence, end: { kind: 'failed', step: failed, fakeGreen: judged.fakeGreen } }
    }
  }
  return { executed, evidence, end: { kind: 'passed' } }
}

interface RanStep {
  readonly end: SandboxStepEnd
  readonly log: StepLog
  readonly startedAt: string
  readonly durationMs: number
}

async function runStep(
  { request, sandbox, logs, redaction, onLastEnd }: StepsRequest,
  index: number,
  step: VerificationStep,
): Promise<RanStep> {
  const log = logs.openStep(index, request.config.steps.length, step)
  const startedAt = new Date().toISOString()
  const startedMs = monotonicMs()
  const broken = new AbortController()
  let lost: GantryError | null = null
  const show = (text: string): void => {
    if (text !== '') request.onEvent?.({ kind: 'step_output', index, text })
  }
  const end = await sandbox.run({
    command: step.command,
    env: stepEnv(request),
    timeoutMs: step.timeoutMs,
    signal: AbortSignal.any([request.signal, broken.signal]),
    output: (chunk) => {
      if (lost !== null) return
      try {
        show(log.output(chunk))
      } catch (error) {
        // It must not be thrown into the engine, and without its log the step is worth nothing.
        if (!(error instanceof GantryError)) throw error
        lost = error
        broken.abort()
      }
    },
  })
  const durationMs = Math.round(monotonicMs() - startedMs)
  if (index === request.config.steps.length - 1) onLastEnd()
  const real = lost === null ? end : { kind: 'failed' as const, failure: lostLog(lost) }
  try {
    show(log.finish(endingOf(real, step, redaction)))
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return { end: { kind: 'failed', failure: lostLog(error) }, log, startedAt, durationMs }
  }
  return { end: real, log, startedAt, durationMs }
}

/** Test programs know that nobody watches and that recorded output is not to be rewritten: `CI`. */
function stepEnv({ config }: VerifyRequest): Readonly<Record<string, string>> {
  const places = Object.entries(redirected).map(([name, directory]) => [name, `/artifacts/${directory}`])
  return { CI: 'true', ...config.env, ...Object.fromEntries(places) }
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

function executedCommand({ name, command }: VerificationStep, { end, durationMs }: RanStep): ExecutedCommand {
  return { name, command, exit_code: exitCodeOf(end), duration_ms: durationMs }
}

function exitCodeOf(end: SandboxStepEnd): number | null {
  if (end.kind === 'exited') return end.exitCode
  return end.kind === 'timed_out' ? 124 : null
}

function ended(
  { treeHash }: StepsRequest,
  { log, startedAt, durationMs }: RanStep,
): Omit<EndedStep, 'command' | 'exitCode'> {
  return { output: log.text(), treeHash, startedAt, durationMs }
}

function redacted(step: VerificationStep, { text }: Redaction): VerificationStep {
  return { ...step, name: text(step.name), command: text(step.command) }
}

function tell({ run, onEvent }: VerifyRequest, event: VerifyEvent): void {
  run.appendEvent({ at: new Date().toISOString(), ...event })
  onEvent?.(event)
}

interface EndedStep {
  readonly command: string
  readonly exitCode: number
  readonly output: string
  readonly treeHash: string
  readonly startedAt: string
  readonly durationMs: number
}

interface JudgedStep {
  readonly evidence: Evidence
  /** Why the exit code 0 is no success; null for a success and for an honest failure. */
  readonly fakeGreen: string | null
}

/** What a step proves. An exit code is believed only as far as the output of the test framework agrees with it. */
export function judgeStep({ output, ...step }: EndedStep): JudgedStep {
  const kind = kindOfCommand(step.command)
  // Lint and builds may well print somebody else's summary, and have no tests of their own.
  const tellsNothing = kind === 'lint' || kind === 'build' || output === ''
  const counts = tellsNothing ? null : countTests(output)
  const evidence: Evidence = {
    ...step,
    kind,
    ...(counts !== null && {
      executed: counts.executed,
      skipped: counts.skipped,
      ...(counts.failed > 0 && { failed: counts.failed }),
    }),
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
