import { counted, formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { systemClock } from '../../io/clock.ts'
import type { Reporter, ReporterContext, RunHeader } from '../contract.ts'
import { splitReason } from '../failure-lines.ts'
import { plainLine, withoutCommands } from '../plain-text.ts'
import { formatCost, formatScore } from '../quantity.ts'
import { displayWidth, padRight, shortenEnd, shortenMiddle, wrapText } from '../text-width.ts'
import { trialName } from '../trial-text.ts'
import { caseTable, useTable } from './case-tables.ts'
import { conclusion } from './conclusion.ts'
import { type Display, plainDisplay } from './display.ts'
import { failures } from './failures.ts'
import { type Palette, palette } from './palette.ts'
import { frame, type ProgressTracker, type RunProgress, trackProgress } from './progress.ts'
import { sectionLines } from './section-lines.ts'

/** Above this many trials, passed trials are not listed one by one. */
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
      listsTrials = run.consoleDetail !== 'end'
      if (run.consoleDetail === undefined || run.consoleDetail === 'everything') {
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

function heartbeat({ done, planned, counts, running, elapsedMs, remainingMs }: RunProgress): string {
  const left = remainingMs === null ? '' : `, about ${formatDuration(remainingMs)} left`
  const bad = counts.fail + counts.infra + counts.invalid
  return `  ${formatCount(done)} of ${formatCount(planned)} done, ${formatCount(bad)} not passed, ${formatCount(running.size)} running after ${formatDuration(elapsedMs)}${left}`
}

/** A finished trial: one line, and its reason below when it did not pass. `columns` is null where lines are not cut. */
function trialLine(record: TrialRecord, columns: number | null, palette: Palette): string {
  const facts = [
    formatDuration(record.durationMs),
    ...(record.costUsd === null ? [] : [formatCost(record.costUsd)]),
    ...(record.score === null ? [] : [`score ${formatScore(record.score)}`]),
    ...(record.cachedFrom === null ? [] : ['cached']),
    ...(record.infraRetries === 0 ? [] : [`try ${record.infraRetries + 1}`]),
  ].join('  ')
  const name = trialName(record)
  const width = columns === null ? null : Math.max(8, columns - 3 - displayWidth(facts) - 2)
  const shown =
    width === null ? name : padRight(shortenMiddle(name, width, palette.ellipsis), Math.min(width, 44))
  const line = `${palette.mark(record.verdict)} ${shown}  ${palette.dim(facts)}`
  if (record.verdict === 'pass') return line
  const { sentence: reason } = splitReason(record.reason)
  const fitted = columns === null ? reason : shortenEnd(reason, Math.max(8, columns - 5), palette.ellipsis)
  return `${line}\n    ${palette.verdict(record.verdict, fitted)}`
}
