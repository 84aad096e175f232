import type { ReporterContext, Sink } from '../contract.ts'

/** Where the console's lines go: a live view that keeps a moving part below them, or a plain stream. */
export interface Display {
  /** Prints one or more permanent lines. */
  line(text: string): void
  /** Shows `frame` below the lines from now on. */
  start(view: View): void
  /** Removes the moving part; only lines from here on. */
  stop(): void
}

export interface View {
  /** The current content of the moving part. */
  readonly frame: (size: { readonly columns: number; readonly rows: number }) => string
  /** One progress line, for streams without a moving part. */
  readonly heartbeat: () => string
}

const heartbeatMs = 30_000

/** Plain lines without control codes. Prints a heartbeat after a long silence. */
export function plainDisplay({ sink }: ReporterContext): Display {
  let timer: NodeJS.Timeout | undefined
  let quiet = false
  return {
    line(text) {
      quiet = false
      sink.write(`${text}\n`)
    },
    start({ heartbeat }) {
      timer = setInterval(() => {
        if (quiet) sink.write(`${heartbeat()}\n`)
        quiet = true
      }, heartbeatMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}

export interface TerminalOutlet {
  readonly stdout: Sink & {
    readonly isTTY: boolean
    readonly columns: number
    readonly color: boolean
    readonly rows?: number
  }
  readonly env: Readonly<Record<string, string | undefined>>
  /** Plain lines even on a terminal. */
  readonly plain?: boolean
}

export function terminalContext({ stdout, env, plain = false }: TerminalOutlet): ReporterContext {
  const size = (): { columns: number; rows: number } => ({ columns: stdout.columns, rows: stdout.rows ?? 24 })
  return {
    sink: stdout,
    color: stdout.color,
    columns: stdout.columns,
    live: stdout.isTTY && !plain && env.TERM !== 'dumb',
    ...(stdout.isTTY ? { size } : {}),
    ascii: asciiOnly(env),
  }
}

/** Containers that support UTF-8 often set no locale, so only a locale with another encoding counts. */
function asciiOnly(env: TerminalOutlet['env']): boolean {
  if (env.TERM === 'dumb') return true
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((value) => value !== undefined && value !== '')
  return locale !== undefined && !/utf-?8/i.test(locale)
}
