import { GantryError } from '../core/error.ts'
import type { Redaction } from '../core/redaction.ts'
import { plainLine } from '../report/plain-text.ts'

export type AccessLog = ReturnType<typeof accessLog>

interface RequestFacts {
  readonly method: string
  /** With the query, as in the request line. */
  readonly path: string
  readonly status: number
  readonly durationMs: number
}

interface AccessLogOptions {
  readonly format: 'text' | 'json' | 'none'
  readonly write: (line: string) => void
  readonly redaction: Pick<Redaction, 'text'>
  readonly now: () => Date
}

const maxPathChars = 500

/** Requests and errors of the server, redacted: JSON lines in the format of the structured task log, or one readable line per request. */
export function accessLog({ format, write, redaction, now }: AccessLogOptions) {
  const json = (level: string, type: string, message: string, extra: object): void =>
    write(
      `${JSON.stringify({ timestamp: now().toISOString(), level, component: 'server', message, event_type: type, ...extra })}\n`,
    )
  let last = ''
  return {
    request({ method, path, status, durationMs }: RequestFacts) {
      if (status < 500) last = ''
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
    /** Details that clients must not see. */
    failure(error: unknown) {
      const text = error instanceof Error && !(error instanceof GantryError) ? error.stack : String(error)
      const shown = redaction.text(text ?? '')
      // An open page asks every few seconds, also while its database is away.
      if (shown === last) return
      last = shown
      if (format === 'json')
        json('error', 'server_error', shown.split('\n')[0] ?? '', { extra: { stack: shown } })
      else write(`${shown}\n`)
    },
  }
}
