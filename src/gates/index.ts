import { z } from 'zod'
import { GantryError } from '../core/error.ts'
import type { GateResult } from '../core/trial.ts'
import { errnoOf, translateFsError } from '../io/fs-error.ts'
import { commandOutputContains, commandOutputMatches, commandSucceeds } from './command-gates.ts'
import { commandJsonPath } from './command-json-path.ts'
import type { Gate, GateContext, GateFinding, GateNeed } from './contract.ts'
import { checkOwnGate, keysOfGate, type OwnGate, readGateConfig, resultOf } from './define-gate.ts'
import { description } from './fields.ts'
import { fileContains, fileExists, fileMatches } from './file-gates.ts'
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

/** A parsed entry of `evaluation.gates`. Each type has more keys. */
export interface GateSpec {
  readonly type: string
  readonly description?: string | undefined
}

/** The same with the gates of the user. */
export function gateSchemaWith(own: readonly OwnGate[]): z.ZodType<GateSpec> {
  if (own.length === 0) return gateSchema
  return z.discriminatedUnion('type', [...gateSchema.options, ...own.map(ownSchema)])
}

/** The schema for editors. The user's types are known only to the project. */
export const anyGateSchema = z.union([
  gateSchema,
  z
    .looseObject({
      type: z
        .string()
        .refine((type) => gates.every((gate) => gate.type !== type))
        .meta({ not: { enum: members.map(({ type }) => type) } })
        .describe('Type of a gate that a module under `gates` in gantry.yaml defines.'),
      description,
    })
    .describe('A gate of your own.'),
])

function ownSchema({ definition }: OwnGate) {
  const keys = Object.fromEntries(keysOfGate(definition).map((key) => [key, z.unknown().optional()]))
  return z
    .looseObject({ ...keys, type: z.literal(definition.type), description })
    .superRefine((entry, context) => {
      const read = readGateConfig(definition, ownKeys(entry))
      for (const issue of read.kind === 'wrong' ? read.issues : [])
        context.addIssue({ ...issue, input: entry })
    })
}

/** The keys of the gate in the scenario, without those that every gate has. */
function ownKeys(entry: GateSpec): Readonly<Record<string, unknown>> {
  const { type: _type, description: _description, ...keys } = entry
  return keys
}

/** The result of a gate, and what is wrong with the gate itself when it could not be checked. */
export interface CheckedGate {
  readonly result: GateResult
  readonly broken: string | null
}

/**
 * Checks one gate. Throws only for an interruption or an error of the machine. Anything that an agent can cause in its workspace, also
 * an unexpected file system error, is a failed gate.
 */
export async function runGate(
  spec: GateSpec,
  context: GateContext,
  own: readonly OwnGate[] = [],
): Promise<CheckedGate> {
  if (context.signal.aborted) throw new GantryError('INTERRUPTED', `stopped before the gate ${spec.type}`)
  const found = own.find(({ definition }) => definition.type === spec.type)
  if (found !== undefined) return checkOwnGate(found.definition, spec, ownKeys(spec), context)
  const gate = gates.find(({ type }) => type === spec.type)
  if (gate === undefined) throw new Error(`there is no gate of type ${spec.type}`)
  const finding = await gate.check(spec, context).catch(failedCheck)
  return { result: resultOf(gate.describesItself ? { type: spec.type } : spec, finding), broken: null }
}

/** What a gate of this type needs besides the final workspace. */
export function gateNeeds(type: string, own: readonly OwnGate[] = []): readonly GateNeed[] {
  const definitions = own.map(({ definition }) => definition)
  return [...gates, ...definitions].find((gate) => gate.type === type)?.needs ?? []
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
