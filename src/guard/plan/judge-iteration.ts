import { counted } from '../../core/counted.ts'
import { type EvidenceStatus, evidenceStatus } from '../../core/evidence.ts'
import { asObject, asStrings } from '../../core/json-fields.ts'
import type { DeclaredCommand, VerificationRun } from '../../guard-engine/contract.ts'
import { runVerification } from '../../guard-engine/run-verification.ts'
import { tailLines } from '../../report/plain-text.ts'

export interface IterationSeen {
  readonly runs: readonly JudgedRun[]
  readonly isGreen: boolean
  /** Files that changed since the task was started, without the plan. */
  readonly changed: readonly string[]
  readonly plan: string
}

export type IterationVerdict =
  | { readonly kind: 'done'; readonly reason: string }
  | { readonly kind: 'not_done'; readonly failure: Failure }

/** Decides whether a task is done, from the command runs and the changed files only. What the agent says does not count. */
export function judgeIteration({ runs, isGreen, changed, plan }: IterationSeen): IterationVerdict {
  const no = (reason: string, tail: readonly string[] = []): IterationVerdict => ({
    kind: 'not_done',
    failure: { reason, tail },
  })
  if (runs.length === 0) return no('the project declares no verification command')
  const bad = runs.filter(({ status }) => status !== 'green')
  const [first] = bad
  if (!isGreen && first !== undefined) {
    const more =
      bad.length === 1
        ? ''
        : `; also not green: ${bad
            .slice(1)
            .map(({ command }) => command)
            .join(', ')}`
    return no(`${whyBad(first)}${more}`, first.tail)
  }
  if (changed.length === 0) return no(`no file except ${plan} changed since the task was started`)
  const reason = `${counted(runs.length, 'command')} green, ${counted(changed.length, 'file')} changed`
  return { kind: 'done', reason }
}

function whyBad({ command, status, exitCode, failed, notCounted }: JudgedRun): string {
  switch (status) {
    case 'not_counted':
      return `${command} proves nothing: ${notCounted ?? 'its result is unknown'}`
    case 'hollow':
      return `${command} ran no tests`
    default:
      return (failed ?? 0) > 0
        ? `${command} failed with exit code ${exitCode} and ${counted(failed ?? 0, 'failed test')}`
        : `${command} failed with exit code ${exitCode}`
  }
}

/** Why an attempt at a task was not accepted. The next attempt gets it in its prompt; after the last attempt it is shown to the user. */
export interface Failure {
  /** One sentence. */
  readonly reason: string
  /** Last lines of the failed command, redacted. Empty when no command failed. */
  readonly tail: readonly string[]
}

/** Reads the failure from a checkpoint; null when it is missing or damaged. */
export function failureFrom(value: unknown): Failure | null {
  const { reason, tail } = asObject(value) ?? {}
  const lines = asStrings(tail)
  return typeof reason !== 'string' || lines === undefined ? null : { reason, tail: lines }
}

interface VerifyRequest {
  readonly root: string
  readonly commands: readonly DeclaredCommand[]
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  tree(): Promise<string | null>
  readonly redact: (text: string) => string
  readonly onOutput: (chunk: Uint8Array) => void
  readonly signal: AbortSignal
}

export interface JudgedRun extends VerificationRun {
  readonly status: EvidenceStatus | 'not_counted'
  /** Last lines of its output, redacted. */
  readonly tail: readonly string[]
}

export type Verification =
  | { readonly kind: 'green' | 'red'; readonly runs: readonly JudgedRun[] }
  /** An infrastructure failure or an interruption. It does not count for or against the project. */
  | { readonly kind: 'lost'; readonly runs: readonly JudgedRun[]; readonly why: string }

const maxTailLines = 40
const keptChars = 64 * 1024

/** Runs the declared commands on the current tree. Without a command the result is never green. */
export async function verifyTree(request: VerifyRequest): Promise<Verification> {
  const { redact, onOutput, ...rest } = request
  const outputs = new Map<string, string>()
  const decoders = new Map<string, InstanceType<typeof TextDecoder>>()
  const made = await runVerification({
    ...rest,
    onOutput: (command, chunk) => {
      onOutput(chunk)
      const decoder = decoders.get(command) ?? new TextDecoder()
      decoders.set(command, decoder)
      const text = (outputs.get(command) ?? '') + decoder.decode(chunk, { stream: true })
      outputs.set(command, text.slice(-keptChars))
    },
  })
  const runs = made.map((run): JudgedRun => {
    const { lines } = tailLines(redact(outputs.get(run.command) ?? ''), maxTailLines)
    return { ...run, status: statusOf(run), tail: lines.filter((line) => line !== '') }
  })
  if (request.signal.aborted) return { kind: 'lost', runs, why: 'it was interrupted' }
  const broken = runs.find(({ infra }) => infra)
  if (broken !== undefined)
    return { kind: 'lost', runs, why: `${broken.command}: ${broken.notCounted ?? 'it did not run'}` }
  const isGreen = runs.length > 0 && runs.every(({ status }) => status === 'green')
  return { kind: isGreen ? 'green' : 'red', runs }
}

function statusOf(run: VerificationRun): JudgedRun['status'] {
  return run.notCounted === undefined ? evidenceStatus([run], run) : 'not_counted'
}
