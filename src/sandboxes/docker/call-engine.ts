import { askOverUnixHttp, type UnixRequest } from '../../io/unix-http.ts'
import type { InfraErrorType, SandboxFailure } from '../contract.ts'
import { isExhaustion } from '../state.ts'
import type { EngineConnection } from './connect-engine.ts'

export interface EngineCall {
  readonly method: UnixRequest['method']
  /** Below the version: `/containers/json`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export type EngineAnswer =
  /** `value`: the JSON of the answer, undefined when it has none. */
  { readonly kind: 'done'; readonly value: unknown } | EngineRefusal

export type EngineRefusal =
  | { readonly kind: 'refused'; readonly status: number; readonly message: string }
  /** The engine is not there any more, or hangs. */
  | { readonly kind: 'gone'; readonly message: string }
  | { readonly kind: 'aborted' }

const defaultTimeoutMs = 60_000

/** One question to the engine, not repeated. */
export async function callEngine(connection: EngineConnection, call: EngineCall): Promise<EngineAnswer> {
  const answer = await askOverUnixHttp({
    ...onWire(connection, call),
    timeoutMs: call.timeoutMs ?? defaultTimeoutMs,
  })
  if (answer.kind === 'aborted') return answer
  if (answer.kind === 'unreachable') return gone(connection, answer.message)
  const value = parsed(answer.body)
  if (answer.status < 400) return { kind: 'done', value }
  return { kind: 'refused', status: answer.status, message: messageIn(value) ?? answer.body.trim() }
}

/** A call as a request over the socket; how long it may take is for the caller to say. */
export function onWire(
  { socketPath, apiPrefix }: EngineConnection,
  { method, path, query, body, signal }: EngineCall,
): Omit<UnixRequest, 'timeoutMs'> {
  return {
    socketPath,
    method,
    path: `${apiPrefix}${path}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`,
    ...(body !== undefined && { body }),
    ...(signal !== undefined && { signal }),
  }
}

export function gone({ socketPath }: EngineConnection, reason: string): EngineRefusal {
  return { kind: 'gone', message: `the engine at ${socketPath} does not answer any more: ${reason}` }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Docker has the words in `message`; Podman adds its own fields beside it. */
function messageIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('message' in value)) return undefined
  return typeof value.message === 'string' ? value.message : undefined
}

/** An engine's refusal as the kind of failure it is. `otherwise`: what it is when the words tell nothing more. */
export function failureOf(
  refusal: Exclude<EngineRefusal, { kind: 'aborted' }>,
  otherwise: InfraErrorType,
  doing: string,
): SandboxFailure {
  if (refusal.kind === 'gone') return { type: 'docker_unavailable', message: sentence(refusal.message) }
  const message = sentence(`${doing}: ${refusal.message.trim()}`)
  if (isExhaustion(refusal.message)) return { type: 'resource_exhaustion', message }
  if (/no such image/i.test(refusal.message)) return { type: 'image_pull', message }
  return { type: otherwise, message }
}

function sentence(text: string): string {
  const whole = /[.!?]$/.test(text) ? text : `${text}.`
  return whole.charAt(0).toUpperCase() + whole.slice(1)
}
