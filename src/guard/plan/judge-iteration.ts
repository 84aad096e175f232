import { counted } from '../../core/counted.ts'
import { type EvidenceStatus, evidenceStatus } from '../../core/evidence.ts'
import type { DeclaredCommand, VerificationRun } from '../../guard-engine/contract.ts'
import { runVerification } from '../../guard-engine/run-verification.ts'
import { tailLines } from '../../report/plain-text.ts'

export interface IterationSeen {
  readonly runs: readonly JudgedRun[]
  readonly isGreen: boolean
  /** Files that differ from when the task was begun, without the plan. */
  readonly changed: readonly string[]
  readonly plan: string
}

export type IterationVerdict =
  | { readonly kind: 'done'; readonly reason: string }
  | { readonly kind: 'not_done'; readonly failure: Failure }

/** Whether a task is done: what ran and what changed, and nothing an agent says. */
export function judgeIteration({ runs, isGreen, changed, plan }: IterationSeen): IterationVerdict {
  const no = (reason: string, tail: readonly string[] = []): IterationVerdict => ({
    kind: 'not_done',
    failure: { reason, tail },
  })
  if (runs.length === 0) return no('no verification command is declared in the project')
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
  if (changed.length === 0) return no(`no file besides ${plan} has changed since the task was begun`)
  const reason = `${counted(runs.length, 'command')} green, ${counted(changed.length, 'file')} changed`
  return { kind: 'done', reason }
}

function whyBad({ command, status, exitCode, failed, notCounted }: JudgedRun): string {
  switch (status) {
    case 'not_counted':
      return `${command} proves nothing: ${notCounted ?? 'its end is not known'}`
    case 'hollow':
      return `${command} ran no test`
    default:
      return (failed ?? 0) > 0
        ? `${command} failed with exit code ${exitCode} and ${counted(failed ?? 0, 'failed test')}`
        : `${command} failed with exit code ${exitCode}`
  }
}

/** Why an attempt at a task was not accepted: what the next one is told, and what a person is told when there is none. */
export interface Failure {
  /** One sentence. */
  readonly reason: string
  /** Last lines of the command that failed, redacted; empty when none did. */
  readonly tail: readonly string[]
}

/** What a checkpoint kept; null when there is none or it is damaged. */
export function failureFrom(value: unknown): Failure | null {
  if (typeof value !== 'object' || value === null || !('reason' in value) || !('tail' in value)) return null
  const { reason, tail } = value
  if (typeof reason !== 'string' || !Array.isArray(tail)) return null
  return { reason, tail: tail.filter((line) => typeof line === 'string') }
}

interface VerifyRequest {
  readonly root: string
  readonly commands: readonly DeclaredCommand[]
  readonly env: Readonly<Record<string, string>>
  /** Of each command. */
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
  /** The machinery broke, or it was interrupted: nothing is said about the project. */
  | { readonly kind: 'lost'; readonly runs: readonly JudgedRun[]; readonly why: string }

const maxTailLines = 40
const keptChars = 64 * 1024

/** Gantry's own run of the declared commands on the tree as it is. Without a command nothing is ever green. */
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
