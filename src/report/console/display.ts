import type { ReporterContext } from '../contract.ts'

/** Where the console's lines go: a live view that keeps a moving part below them, or a plain stream. */
export interface Display {
  /** A permanent line, or several. */
  line(text: string): void
  /** Shows `frame` below the lines from now on. */
  start(view: View): void
  /** Removes the moving part; only lines from here on. */
  stop(): void
}

export interface View {
  /** The moving part as it should look now. */
  readonly frame: (size: { readonly columns: number; readonly rows: number }) => string
  /** One line that shows progress, for streams without a moving part. */
  readonly heartbeat: () => string
}

const heartbeatMs = 30_000

/** Plain lines and no control codes. A long silence is broken by a heartbeat. */
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
