import { type EvidenceStatus, evidenceStatus } from '../../core/evidence.ts'
import type { DeclaredCommand, VerificationRun } from '../../guard-engine/contract.ts'
import { runVerification } from '../../guard-engine/run-verification.ts'
import { tailLines } from '../../report/plain-text.ts'

export interface VerifyRequest {
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
