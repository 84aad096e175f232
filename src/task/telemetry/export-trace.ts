import { version } from '../../core/version.ts'
import { httpFetch } from '../../io/http-fetch.ts'
import type { TaskEvent } from '../contract.ts'
import { otlpDocument } from './otlp-document.ts'
import { taskSpans } from './task-spans.ts'

type Env = Readonly<Record<string, string | undefined>>

const timeoutMs = 5_000

/**
 * Sends the trace of an ended task to where OTEL_EXPORTER_OTLP_ENDPOINT says. null when nobody asked for it or it was taken;
 * else one sentence about why not. A collector that is down is no failure of the task.
 */
export async function exportTrace(events: readonly TaskEvent[], env: Env): Promise<string | null> {
  const url = tracesUrl(env)
  const [first] = events
  if (url === null || first === undefined) return null
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL
  if (protocol !== undefined && protocol !== '' && protocol !== 'http/json')
    return `the trace was not sent: Gantry speaks http/json, and OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}`
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
    return equals < 1 ? [] : [[pair.slice(0, equals).trim(), decoded(pair.slice(equals + 1).trim())]]
  })
  return Object.fromEntries(found)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
