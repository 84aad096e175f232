import type { Redaction } from '../core/redaction.ts'
import { plainLine } from '../report/plain-text.ts'

/** Logs requests and errors of the server, redacted. */
export interface AccessLog {
  request(facts: RequestFacts): void
  /** A failure whose details clients must not see. */
  failure(error: unknown): void
}

export interface RequestFacts {
  readonly method: string
  /** With the query, as in the request line. */
  readonly path: string
  readonly status: number
  readonly durationMs: number
}

export interface AccessLogOptions {
  readonly format: 'text' | 'json' | 'none'
  readonly write: (line: string) => void
  readonly redaction: Pick<Redaction, 'text'>
  readonly now: () => Date
}

const maxPathChars = 500

/** JSON lines in the format of the structured task log, or one readable line per request. */
export function accessLog({ format, write, redaction, now }: AccessLogOptions): AccessLog {
  const json = (level: string, type: string, message: string, extra: object): void =>
    write(
      `${JSON.stringify({ timestamp: now().toISOString(), level, component: 'server', message, event_type: type, ...extra })}\n`,
    )
  return {
    request({ method, path, status, durationMs }) {
      if (format === 'none') return
      const shown = redaction.text(path).slice(0, maxPathChars)
      if (format === 'text')
        return write(
          `${now().toISOString().slice(11, 19)} ${method} ${plainLine(shown)} ${status} ${durationMs.toFixed(1)} ms\n`,
        )
      json(status >= 500 ? 'error' : 'info', 'http_request', `${method} ${shown}`, {
        duration_ms: Math.round(durationMs * 10) / 10,
        extra: { method, path: shown, status },
      })
    },
    failure(error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      const shown = redaction.text(text)
      if (format === 'json')
        json('error', 'server_error', shown.split('\n')[0] ?? '', { extra: { stack: shown } })
      else write(`${shown}\n`)
    },
  }
}
