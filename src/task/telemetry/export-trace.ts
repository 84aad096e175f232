import { percentDecoded } from '../../core/percent-decoded.ts'
import { version } from '../../core/version.ts'
import { httpFetch } from '../../io/http-fetch.ts'
import { sha256 } from '../../io/sha256.ts'
import type { TaskEvent } from '../contract.ts'

type Env = Readonly<Record<string, string | undefined>>

const timeoutMs = 5_000

/**
 * Sends the trace of an ended task to OTEL_EXPORTER_OTLP_ENDPOINT. Returns null when no endpoint is set or the trace was accepted,
 * else one sentence with the problem. A collector that is down does not fail the task.
 */
export async function exportTrace(events: readonly TaskEvent[], env: Env): Promise<string | null> {
  const url = tracesUrl(env)
  const [first] = events
  if (url === null || first === undefined) return null
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL
  if (protocol !== undefined && protocol !== '' && protocol !== 'http/json')
    return `the trace was not sent: Gantry supports only http/json, and OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}`
  const resource = {
    'service.name': env.OTEL_SERVICE_NAME || 'gantry',
    ...pairs(env.OTEL_RESOURCE_ATTRIBUTES),
  }
  const document = otlpDocument(taskSpans(events), first.task_id, resource, version)
  const answer = await httpFetch({
    method: 'POST',
    url,
    headers: { ...pairs(env.OTEL_EXPORTER_OTLP_HEADERS), 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify(document)),
    firstByteTimeoutMs: timeoutMs,
    signal: AbortSignal.timeout(2 * timeoutMs),
  })
  if (answer.kind === 'unreachable') return `the trace was not sent: ${answer.message}`
  if (answer.status >= 200 && answer.status < 300) return null
  return `the trace was refused with status ${answer.status}`
}

function tracesUrl(env: Env): string | null {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  if (own !== undefined && own !== '') return own
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT
  if (base === undefined || base === '' || env.OTEL_SDK_DISABLED === 'true') return null
  return `${base.replace(/\/+$/, '')}/v1/traces`
}

/** `a=1,b=2`, values percent-encoded. */
function pairs(text: string | undefined): Record<string, string> {
  const found = (text ?? '').split(',').flatMap((pair) => {
    const equals = pair.indexOf('=')
    return equals < 1 ? [] : [[pair.slice(0, equals).trim(), percentDecoded(pair.slice(equals + 1).trim())]]
  })
  return Object.fromEntries(found)
}

const kinds = { internal: 1, client: 3 } as const
const statusError = 2

/** Spans as OTLP JSON. Ids are derived from the task id, so a trace sent twice is one trace. */
export function otlpDocument(
  spans: readonly TraceSpan[],
  taskId: string,
  resource: Readonly<Record<string, string>>,
  version: string,
): object {
  const traceId = sha256(`trace ${taskId}`).slice(0, 32)
  const spanId = (key: string): string => sha256(`span ${taskId} ${key}`).slice(0, 16)
  return {
    resourceSpans: [
      {
        resource: { attributes: attributes(resource) },
        scopeSpans: [
          {
            scope: { name: 'gantry', version },
            spans: spans.map((span) => ({
              traceId,
              spanId: spanId(span.key),
              ...(span.parent !== null && { parentSpanId: spanId(span.parent) }),
              name: span.name,
              kind: kinds[span.kind],
              startTimeUnixNano: nanos(span.startMs),
              endTimeUnixNano: nanos(span.endMs),
              attributes: attributes(span.attributes),
              status: span.failed === null ? {} : { code: statusError, message: span.failed },
            })),
          },
        ],
      },
    ],
  }
}

function nanos(ms: number): string {
  return (BigInt(Math.round(ms * 1000)) * 1000n).toString()
}

function attributes(values: Readonly<Record<string, string | number | boolean>>) {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

interface TraceSpan {
  /** Unique within the trace. The first span is the task. */
  readonly key: string
  readonly parent: string | null
  readonly name: string
  readonly kind: 'internal' | 'client'
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly failed: string | null
}

/**
 * The trace of an ended task, by the OpenTelemetry conventions for generative AI: the task is an `invoke_workflow`, an Editor turn an
 * `invoke_agent`, a question to a Scout a `chat`.
 */
export function taskSpans(events: readonly TaskEvent[]): readonly TraceSpan[] {
  const [first] = events
  const last = events.at(-1)
  if (first === undefined || last === undefined) return []
  const started = events.find((event) => event.kind === 'task_started')
  const ended = events.findLast((event) => event.kind === 'task_ended')
  const model = started?.kind === 'task_started' ? started.model : 'unknown'
  const task: TraceSpan = {
    key: 'task',
    parent: null,
    name: 'invoke_workflow gantry.task',
    kind: 'internal',
    startMs: first.ts * 1000,
    endMs: last.ts * 1000,
    attributes: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'gantry.task',
      'gantry.task.id': first.task_id,
      ...(ended?.kind === 'task_ended' && {
        'gantry.task.state': ended.state,
        'gantry.task.attempts': ended.attempts,
        'gantry.task.replans': ended.replans,
      }),
    },
    failed: ended?.kind === 'task_ended' && ended.state !== 'SUCCESS' ? ended.reason : null,
  }
  const parts = events.flatMap((event, index): TraceSpan[] => {
    const part = partOf(event, model)
    if (part === null || !('duration_ms' in event)) return []
    // Events have the end time and the duration.
    const endMs = event.ts * 1000
    return [{ key: `${index}`, parent: 'task', startMs: endMs - event.duration_ms, endMs, ...part }]
  })
  return [task, ...parts]
}

function partOf(
  event: TaskEvent,
  model: string,
): Pick<TraceSpan, 'name' | 'kind' | 'attributes' | 'failed'> | null {
  const answering = {
    'gen_ai.provider.name': providerOf(model),
    'gen_ai.request.model': model.includes(':') ? model.slice(model.indexOf(':') + 1) : model,
  }
  switch (event.kind) {
    case 'scout_query':
      return {
        name: `chat ${model}`,
        kind: 'client',
        attributes: {
          'gen_ai.operation.name': 'chat',
          ...answering,
          'gen_ai.agent.name': event.scout,
          'gen_ai.usage.input_tokens': event.input_tokens,
          'gen_ai.usage.output_tokens': event.output_tokens,
          'gantry.tries': event.tries,
        },
        failed: event.success ? null : (event.error ?? 'cancelled'),
      }
    case 'edit':
      return {
        name: `invoke_agent ${event.agent}`,
        kind: 'internal',
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': event.agent,
          ...answering,
          'gantry.files': event.files.length,
        },
        failed: null,
      }
    case 'verifier_result':
      return {
        name: 'gantry.verify',
        kind: 'internal',
        attributes: {
          'gantry.verify.status': event.status,
          'gantry.verify.attempt': event.attempt,
          ...(event.run_id !== null && { 'gantry.run.id': event.run_id }),
        },
        failed: event.failure,
      }
    default:
      return null
  }
}

function providerOf(model: string): string {
  const provider = model.split(':')[0] ?? ''
  return provider === 'openai-compatible' ? 'openai' : provider || 'unknown'
}
