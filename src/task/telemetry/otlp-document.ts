import { hex, sha256Bytes } from '../../core/sha256.ts'
import type { Span } from './task-spans.ts'

const kinds = { internal: 1, client: 3 } as const
const statusError = 2

/** Spans as the JSON of OTLP over HTTP. Ids follow from the task's, so that a trace sent twice is one trace. */
export function otlpDocument(
  spans: readonly Span[],
  taskId: string,
  resource: Readonly<Record<string, string>>,
  version: string,
): object {
  const traceId = digest(`trace ${taskId}`).slice(0, 32)
  const spanId = (key: string): string => digest(`span ${taskId} ${key}`).slice(0, 16)
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

function digest(text: string): string {
  return hex(sha256Bytes(new TextEncoder().encode(text)))
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
