import { GantryError } from '../core/error.ts'
import { isObject } from '../core/json-fields.ts'
import type { GateResult } from '../core/trial.ts'
import { definitionProblem } from '../io/import-module.ts'
import { faultOf, runOwnCode } from '../io/own-code.ts'
import type { GateContext, GateFinding, GateNeed } from './contract.ts'

/** A gate of the user: usable in every scenario of the project by its type. */
export interface GateDefinition<Config = unknown> {
  /** The type in scenarios, for example `no_todo`. */
  readonly type: string
  /**
   * Checks the keys that a scenario writes beside `type` and `description`. A Standard Schema (zod, valibot, arktype), or a function
   * that returns the configuration and throws when it is wrong. Without it the gate has no keys of its own.
   */
  readonly schema?: ConfigSchema<Config>
  /** What it needs besides the final workspace. */
  readonly needs?: readonly GateNeed[]
  /** Default: one minute. A check that takes longer makes the trial invalid. */
  readonly timeoutMs?: number
  /**
   * Checks the trial and changes nothing. A missing file is a result too. If it throws, the gate is broken: the trial is `invalid` and
   * does not count against the agent.
   */
  check(config: Config, context: GateContext): GateFinding | Promise<GateFinding>
}

export type ConfigSchema<Config> = StandardSchema<Config> | ((value: unknown) => Config)

/** The part of https://standardschema.dev that Gantry uses. Every schema of zod 3.24 or later is one. */
export interface StandardSchema<Output> {
  readonly '~standard': { validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>> }
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Returns its argument. It exists for the types: `check` gets the configuration with the type of the schema. */
export function defineGate<Config = Readonly<Record<string, never>>>(
  gate: GateDefinition<Config>,
): GateDefinition<Config> {
  return gate
}

/** A gate of the user, and its source. */
export interface OwnGate {
  readonly definition: GateDefinition
  /** Hash of the module that defines it. null for a value passed by a caller of the library, whose code cannot be hashed. */
  readonly fingerprint: string | null
}

/** The default export of a module: one gate or a list. Returns a text when it is invalid. */
export function readGateDefinitions(exported: unknown): readonly GateDefinition[] | string {
  const read = (Array.isArray(exported) ? exported : [exported]).map(readGateDefinition)
  return read.find((gate) => typeof gate === 'string') ?? read.filter((gate) => typeof gate !== 'string')
}

export function readGateDefinition(value: unknown): GateDefinition | string {
  return definitionProblem(value, definitionKeys, ['type', 'check']) ?? (value as GateDefinition)
}

const definitionKeys = {
  type: (value: unknown) => typeof value === 'string' && /^\S+$/.test(value),
  schema: (value: unknown) =>
    typeof value === 'function' || (typeof value === 'object' && value !== null && '~standard' in value),
  needs: (value: unknown) =>
    Array.isArray(value) && value.every((need) => need === 'agent_events' || need === 'workspace_delta'),
  timeoutMs: (value: unknown) => typeof value === 'number' && value > 0,
  check: (value: unknown) => typeof value === 'function',
}

export type ReadConfig =
  | { readonly kind: 'ok'; readonly config: unknown }
  | { readonly kind: 'wrong'; readonly issues: readonly ConfigIssue[] }

/** An issue as zod words it, so that it is shown like those of built-in gates. */
type ConfigIssue = { readonly path: PropertyKey[] } & (
  | { readonly code: 'unrecognized_keys'; readonly keys: string[] }
  | { readonly code: 'invalid_type'; readonly expected: (typeof basicTypes)[number] }
  | { readonly code: 'custom'; readonly message: string }
)

const basicTypes = ['string', 'number', 'int', 'boolean', 'array', 'object'] as const

/** Reads the keys that a scenario wrote for the gate, without `type` and `description`. */
export function readGateConfig(
  { schema }: GateDefinition,
  written: Readonly<Record<string, unknown>>,
): ReadConfig {
  if (schema === undefined) return noKeys(written)
  try {
    if (!('~standard' in schema)) {
      const config = schema(written)
      return config instanceof Promise ? asynchronous(config) : { kind: 'ok', config }
    }
    const result = schema['~standard'].validate(written)
    if (result instanceof Promise) return asynchronous(result)
    if (result.issues !== undefined) return wrong(result.issues)
    const unknown = droppedKeys(schema, written, result.value)
    return unknown.length === 0 ? { kind: 'ok', config: result.value } : unknownKeys(unknown)
  } catch (cause) {
    // `schema: (value) => mySchema.parse(value)` throws an error with the issues.
    if (cause instanceof Error && 'issues' in cause && Array.isArray(cause.issues) && cause.issues.length > 0)
      return wrong(cause.issues)
    return problem(cause instanceof Error ? cause.message : String(cause))
  }
}

function asynchronous(promise: Promise<unknown>): ReadConfig {
  // Nothing waits for it, so a rejection would be unhandled.
  promise.catch(() => {})
  return problem('the schema of the gate is asynchronous')
}

/** The known keys of the gate, for messages about unknown ones. */
export function keysOfGate({ schema }: GateDefinition): readonly string[] {
  return schema === undefined || typeof schema === 'function' ? [] : keysOf(schema)
}

function noKeys(written: Readonly<Record<string, unknown>>): ReadConfig {
  const keys = Object.keys(written)
  return keys.length === 0 ? { kind: 'ok', config: {} } : unknownKeys(keys)
}

/** An object schema that drops unknown keys would accept a misspelt key. */
function droppedKeys(schema: object, written: object, read: unknown): string[] {
  if (!('shape' in schema) || typeof read !== 'object' || read === null) return []
  const known = keysOf(schema)
  return Object.keys(written).filter((key) => !known.includes(key) && !Object.hasOwn(read, key))
}

/** The keys of an object schema of zod; none for other schemas. */
function keysOf(schema: object): readonly string[] {
  const shape = 'shape' in schema ? schema.shape : null
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : []
}

function wrong(issues: readonly StandardIssue[]): ReadConfig {
  return {
    kind: 'wrong',
    issues: issues.map((issue) => {
      const path = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))
      return zodIssue(issue, path) ?? { code: 'custom', message: issue.message, path }
    }),
  }
}

/** The two most common issues of zod, worded like those of built-in gates. null for others. */
function zodIssue(issue: StandardIssue, path: PropertyKey[]): ConfigIssue | null {
  const { code, keys, expected }: Readonly<Record<string, unknown>> = { ...issue }
  if (code === 'unrecognized_keys' && Array.isArray(keys)) return { code, keys: keys.map(String), path }
  // Prefer a message of the author.
  const isDefault = /^(Invalid input: expected|Expected|Required)/.test(issue.message)
  const basic = basicTypes.find((type) => type === expected)
  return code === 'invalid_type' && isDefault && basic !== undefined ? { code, expected: basic, path } : null
}

function unknownKeys(keys: string[]): ReadConfig {
  return { kind: 'wrong', issues: [{ code: 'unrecognized_keys', keys, path: [] }] }
}

function problem(message: string): ReadConfig {
  return { kind: 'wrong', issues: [{ code: 'custom', message, path: [] }] }
}

const defaultTimeoutMs = 60_000

/**
 * Checks a gate of the user. A check that throws, takes too long or does not return a finding makes the gate broken, which does not
 * count against the agent.
 */
export async function checkOwnGate(
  definition: GateDefinition,
  spec: { readonly type: string; readonly description?: string | undefined },
  written: Readonly<Record<string, unknown>>,
  context: GateContext,
): Promise<{ readonly result: GateResult; readonly broken: string | null }> {
  const checked = await tryCheck(definition, written, context)
  if (context.signal.aborted) throw new GantryError('INTERRUPTED', `stopped in the gate ${spec.type}`)
  if (typeof checked !== 'string') return { result: resultOf(spec, checked), broken: null }
  return {
    result: resultOf(spec, { passed: false, message: checked }),
    broken: `the gate ${spec.type} ${checked}`,
  }
}

export function resultOf(
  { type, description }: { readonly type: string; readonly description?: string | undefined },
  { passed, message, detail = {} }: GateFinding,
): GateResult {
  return { type, passed, message: description === undefined ? message : `${description}: ${message}`, detail }
}

/** The finding, or a text that says what is wrong with the gate. */
async function tryCheck(
  definition: GateDefinition,
  written: Readonly<Record<string, unknown>>,
  context: GateContext,
): Promise<GateFinding | string> {
  const read = readGateConfig(definition, written)
  if (read.kind === 'wrong') return 'does not accept its configuration'
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>()
  context.signal.addEventListener('abort', stop)
  try {
    const checking = runOwnCode(
      `the gate ${definition.type}`,
      (signal) => definition.check(read.config, { ...context, signal }),
      { signal: context.signal, limitMs: definition.timeoutMs ?? defaultTimeoutMs },
    )
    return readFinding(await Promise.race([checking, stopped]))
  } catch (cause) {
    return faultOf(cause)
  } finally {
    context.signal.removeEventListener('abort', stop)
  }
}

function readFinding(value: unknown): GateFinding | string {
  if (!isObject(value) || typeof value.passed !== 'boolean' || typeof value.message !== 'string')
    return 'did not return { passed: boolean, message: string }'
  const { passed, message, detail = {} } = value
  try {
    // A copy, so that nothing changes it later.
    const copy: unknown = JSON.parse(JSON.stringify(detail) ?? 'null')
    return typeof copy === 'object' && copy !== null
      ? { passed, message, detail: { ...copy } }
      : "returned a 'detail' that is not an object"
  } catch (cause) {
    return `returned a 'detail' that cannot be written as JSON: ${cause instanceof Error ? cause.message : cause}`
  }
}
