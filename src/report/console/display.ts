import type { ReporterContext } from '../contract.ts'

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
