import { z } from 'zod'
import { GantryError } from '../core/error.ts'
import type { GateResult } from '../core/trial.ts'
import { errnoOf, translateFsError } from '../io/fs-error.ts'
import { commandJsonPath } from './command-json-path.ts'
import { commandOutputContains } from './command-output-contains.ts'
import { commandOutputMatches } from './command-output-matches.ts'
import { commandSucceeds } from './command-succeeds.ts'
import type { Gate, GateContext, GateFinding, GateNeed } from './contract.ts'
import { fileContains } from './file-contains.ts'
import { fileExists } from './file-exists.ts'
import { fileMatches } from './file-matches.ts'
import { noTranscriptErrors } from './no-transcript-errors.ts'
import { script } from './script.ts'
import { toolCalled } from './tool-called.ts'
import { workspaceDelta } from './workspace-delta.ts'

const members = [
  commandSucceeds,
  commandOutputContains,
  commandOutputMatches,
  commandJsonPath,
  fileExists,
  fileContains,
  fileMatches,
  noTranscriptErrors,
  script,
  workspaceDelta,
  toolCalled,
] as const

export const gates: readonly Gate[] = members

const [first, ...rest] = members

/** One entry of `evaluation.gates`. */
export const gateSchema = z
  .discriminatedUnion('type', [first.schema, ...rest.map(({ schema }) => schema)])
  .describe('A deterministic check of the trial; `type` names the kind.')

export type GateSpec = z.output<typeof gateSchema>

/**
 * Checks one gate. Throws only when the check could not be made: interrupted, or the machine is at fault. What an agent can cause in
 * its workspace, also an unexpected error of the file system, is a failed gate.
 */
export async function runGate(spec: GateSpec, context: GateContext): Promise<GateResult> {
  const gate = gates.find(({ type }) => type === spec.type)
  if (gate === undefined) throw new Error(`there is no gate of type ${spec.type}`)
  if (context.signal.aborted) throw new GantryError('INTERRUPTED', `stopped before the gate ${spec.type}`)
  const { passed, message, detail = {} } = await gate.check(spec, context).catch(failedCheck)
  const prefixed =
    gate.describesItself || spec.description === undefined ? message : `${spec.description}: ${message}`
  return { type: spec.type, passed, message: prefixed, detail }
}

/** What a gate of this type looks at besides the workspace as the agent left it. */
export function gateNeeds(type: string): readonly GateNeed[] {
  return gates.find((gate) => gate.type === type)?.needs ?? []
}

/** Commands of these gates that usually start a script of the case's template. */
export function scriptsOfGates(specs: readonly GateSpec[]): readonly string[] {
  return specs.flatMap((spec) => gates.find(({ type }) => type === spec.type)?.scripts?.(spec) ?? [])
}

const machineErrors = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOSPC', 'EDQUOT', 'EIO', 'EROFS'])

function failedCheck(cause: unknown): GateFinding {
  const errno = cause instanceof GantryError ? undefined : errnoOf(cause)
  if (!(cause instanceof Error) || errno === undefined || !/^E[A-Z0-9]+$/.test(errno)) throw cause
  if (machineErrors.has(errno)) throw translateFsError(cause, 'check a gate')
  return { passed: false, message: `could not be checked: ${cause.message}`, detail: { error: errno } }
}
