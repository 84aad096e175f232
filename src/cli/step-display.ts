import { formatDuration } from '../core/duration.ts'
import { monotonicMs } from '../io/clock.ts'
import { type Display, plainDisplay, type View } from '../report/console/display.ts'
import type { ReporterContext } from '../report/contract.ts'
import { plainLine } from '../report/plain-text.ts'
import { shortenEnd } from '../report/text-width.ts'
import type { CliContext } from './context.ts'

/** Permanent lines, and below them on a terminal one that moves: how long the step runs and what it printed last. */
export interface StepDisplay {
  line(text: string): void
  /** Something for another stream of the same terminal. */
  aside(write: () => void): void
  started(): void
  printed(text: string): void
  ended(): void
}

const keptChars = 4_096

export function stepDisplay({ stdout, env, signal }: CliContext): StepDisplay {
  const context: ReporterContext = {
    sink: stdout,
    color: stdout.color,
    columns: stdout.columns,
    live: stdout.isTTY && env.TERM !== 'dumb',
    size: () => ({ columns: stdout.columns, rows: stdout.rows ?? 24 }),
  }
  const plain = plainDisplay(context)
  let display: Display = plain
  let running: View | null = null
  let startedMs = 0
  let output = ''
  const text = (): string => {
    const state = signal.aborted ? 'being cancelled' : 'running'
    const last = output.split(/[\r\n]/).findLast((line) => line.trim() !== '') ?? ''
    return `      ${state} ${elapsed(monotonicMs() - startedMs)}  ${plainLine(last)}`.trimEnd()
  }
  const view: View = { frame: ({ columns }) => shortenEnd(text(), columns - 1), heartbeat: text }
  /** Loaded only now: most steps of a quick verification have ended before anybody could look. */
  const enliven = async (): Promise<void> => {
    const { liveDisplay } = await import('../report/console/live-display.ts')
    if (display !== plain) return
    plain.stop()
    display = liveDisplay(context)
    if (running !== null) display.start(running)
  }
  return {
    line: (line) => display.line(line),
    aside: (write) => {
      display.stop()
      write()
      if (running !== null) display.start(running)
    },
    started: () => {
      startedMs = monotonicMs()
      output = ''
      running = view
      display.start(view)
      if (context.live) void enliven()
    },
    printed: (piece) => {
      output = (output + piece).slice(-keptChars)
    },
    ended: () => {
      running = null
      display.stop()
    },
  }
}

/** Without tenths: nobody reads them while they change. */
function elapsed(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000)
  return seconds < 60 ? `${seconds}s` : formatDuration(seconds * 1000)
}
