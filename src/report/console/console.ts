import { counted, formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { systemClock } from '../../io/clock.ts'
import type { Reporter, ReporterContext, RunHeader } from '../contract.ts'
import { plainLine, withoutCommands } from '../plain-text.ts'
import { wrapText } from '../text-width.ts'
import { caseTable } from './case-table.ts'
import { conclusion } from './conclusion.ts'
import { type Display, plainDisplay } from './display.ts'
import { failures } from './failures.ts'
import { frame } from './frame.ts'
import { palette } from './palette.ts'
import { type Progress, type ProgressTracker, trackProgress } from './progress.ts'
import { sectionLines } from './section-lines.ts'
import { trialLine } from './trial-line.ts'
import { useTable } from './use-table.ts'

/** Passes get a line each up to this many trials; in a larger run they would bury what did not pass. */
const maxListedTrials = 100

/** What a person sees: a live view on a terminal, plain lines in a pipe, and at the end an explanation. */
export async function openConsole(context: ReporterContext): Promise<Reporter> {
  if (!context.live) return consoleReporter(context, plainDisplay(context))
  const { liveDisplay } = await import('./live-display.ts')
  return consoleReporter(context, liveDisplay(context))
}

function consoleReporter(context: ReporterContext, display: Display): Reporter {
  const clock = context.clock ?? systemClock
  const nowMs = (): number => clock.now().getTime()
  const columns = (): number => Math.max(20, context.size?.().columns ?? context.columns)
  const colors = palette(context.color, context.ascii ?? false)
  const print = (text: string): void => display.line(withoutCommands(text))
  let tracker: ProgressTracker | null = null
  let listPasses = true
  let listsTrials = true
  return {
    runStarted(run) {
      const started = trackProgress(run, nowMs)
      tracker = started
      listPasses = run.trials <= maxListedTrials
      listsTrials = run.told !== 'end'
      if (run.told === undefined || run.told === 'everything') {
        for (const line of wrapText(headerSentence(run), columns() - 1)) print(colors.bold(line))
        print('')
      }
      display.start({
        frame: (size) => frame(started.now(), nowMs(), size, colors),
        heartbeat: () => heartbeat(started.now()),
      })
    },
    trialStarted: (trial) => tracker?.started(trial),
    trialEnded(record) {
      tracker?.ended(record)
      if (!listsTrials || (record.verdict === 'pass' && !listPasses)) return
      print(trialLine(record, context.live ? columns() : null, colors))
    },
    note({ level, message }) {
      const text = plainLine(message)
      print(level === 'warning' ? colors.warn(`! ${text}`) : colors.dim(`  ${text}`))
    },
    async runEnded(run) {
      display.stop()
      const passed = run.summary.counts.pass
      if (listsTrials && !listPasses && passed > 0)
        print(`${colors.mark('pass')} ${counted(passed, 'trial')} passed (not listed one by one)`)
      const width = columns()
      const lines = [
        ...(await failures(run, width, colors)),
        ...(run.sections ?? []).flatMap((section) => sectionLines(section, width, colors)),
        ...(run.showCases === false ? [] : caseTable(run.summary, width, colors)),
        ...useTable(run.summary.cases, width, colors),
        ...conclusion(run, width, colors),
      ]
      print(lines.join('\n'))
    },
  }
}

function headerSentence({ title, trials, concurrency, runId }: RunHeader): string {
  const lanes = concurrency > 1 ? `, ${formatCount(concurrency)} at a time` : ''
  return `${plainLine(title)}: ${counted(trials, 'trial')}${lanes} (${plainLine(runId)})`
}

function heartbeat({ done, planned, counts, running, elapsedMs, remainingMs }: Progress): string {
  const left = remainingMs === null ? '' : `, about ${formatDuration(remainingMs)} left`
  const bad = counts.fail + counts.infra + counts.invalid
  return `  ${formatCount(done)} of ${formatCount(planned)} done, ${formatCount(bad)} not passed, ${formatCount(running.size)} running after ${formatDuration(elapsedMs)}${left}`
}
