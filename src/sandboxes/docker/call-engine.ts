import { asObject, asString, defined, parseJson } from '../../core/json-fields.ts'
import { askOverUnixHttp, type UnixRequest } from '../../io/unix-http.ts'
import type { InfraErrorType, SandboxFailure } from '../contract.ts'
import { isExhaustion } from '../state.ts'

export interface EnginePlace {
  readonly socketPath: string
  /** The prefix of every path: `/v1.41`. */
  readonly apiPrefix: string
}

export interface EngineCall {
  readonly method: UnixRequest['method']
  /** The path after the version: `/containers/json`. */
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
  /** The engine has stopped, or hangs. */
  | { readonly kind: 'gone'; readonly message: string }
  | { readonly kind: 'aborted' }

const defaultTimeoutMs = 60_000

/** One request to the engine, without retries. */
export async function callEngine(connection: EnginePlace, call: EngineCall): Promise<EngineAnswer> {
  const answer = await askOverUnixHttp({
    ...onWire(connection, call),
    timeoutMs: call.timeoutMs ?? defaultTimeoutMs,
  })
  if (answer.kind === 'aborted') return answer
  if (answer.kind === 'unreachable') return gone(connection, answer.message)
  const value = parseJson(answer.body)
  if (answer.status < 400) return { kind: 'done', value }
  // Docker has the text in `message`; Podman adds other fields.
  const message = asString(asObject(value)?.message) ?? answer.body.trim()
  return { kind: 'refused', status: answer.status, message }
}

/** A call as a request over the socket, without a time limit of its own. */
export function onWire(
  { socketPath, apiPrefix }: EnginePlace,
  { method, path, query, body, signal }: EngineCall,
): Omit<UnixRequest, 'timeoutMs'> {
  return {
    socketPath,
    method,
    path: `${apiPrefix}${path}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`,
    ...defined({ body, signal }),
  }
}

export function gone({ socketPath }: EnginePlace, reason: string): Extract<EngineRefusal, { kind: 'gone' }> {
  return { kind: 'gone', message: `the engine at ${socketPath} no longer answers: ${reason}` }
}

/** An engine's refusal as a failure. `otherwise`: the type when the message does not determine it. */
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
