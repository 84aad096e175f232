import { counted, formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { TrialRecord } from '../../core/trial.ts'
import type { Verdict } from '../../core/verdict.ts'
import { systemClock } from '../../io/clock.ts'
import { caseMatrix } from '../case-matrix.ts'
import type { FinishedRun, Reporter, ReporterContext, ReportSection, RunHeader } from '../contract.ts'
import { displayWidth, padRight, shortenEnd, shortenMiddle, wrapText } from '../display-width.ts'
import { splitReason } from '../failure-lines.ts'
import { plainLine, withoutCommands } from '../plain-text.ts'
import { formatCost, formatScore } from '../quantity.ts'
import { nextSteps, runEnding, runSentence, totals } from '../run-sentence.ts'
import { agentName, trialName } from '../trial-sentences.ts'
import { caseTable, useTable } from './case-tables.ts'
import { type Display, plainDisplay } from './display.ts'
import { failures, headline } from './failures.ts'
import { type Palette, palette } from './palette.ts'
import { frame, type ProgressTracker, type RunProgress, trackProgress } from './progress.ts'
import { sectionLines } from './section-lines.ts'

/** Above this many trials, passed trials are not listed one by one. */
const maxListedTrials = 100

/** Output for people: a live view on a terminal, plain lines in a pipe, and an explanation at the end. */
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
      if (!listsTrials || (record.verdict === 'pass' && !listPasses && record.warnings.length === 0)) return
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
      const sections = run.sections ?? []
      const shown = (section: ReportSection): string[] => sectionLines(section, width, colors)
      const lines = [
        ...sections.filter(({ isFirst }) => isFirst === true).flatMap(shown),
        ...(await failures(run, width, colors)),
        ...sections.filter(({ isFirst }) => isFirst !== true).flatMap(shown),
        ...(run.showCases === false
          ? []
          : [...caseMatrix(run.summary).flatMap(shown), ...caseTable(run.summary, width, colors)]),
        ...useTable(run.summary.cases, width, colors),
        ...conclusion(run, width, colors),
      ]
      print(lines.join('\n'))
    },
  }
}

function headerSentence({ title, trials, mayEndEarly, concurrency, runId }: RunHeader): string {
  const most = mayEndEarly === true ? 'at most ' : ''
  const lanes = concurrency > 1 ? `, ${formatCount(concurrency)} at a time` : ''
  return `${plainLine(title)}: ${most}${counted(trials, 'trial')}${lanes} (${plainLine(runId)})`
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
  const fitted = (text: string): string =>
    columns === null ? text : shortenEnd(text, Math.max(8, columns - 5), palette.ellipsis)
  if (record.verdict === 'pass')
    return [
      line,
      ...record.warnings.map((text) => `    ${palette.warn(fitted(`warning: ${plainLine(text)}`))}`),
    ].join('\n')
  // Where lines stay, the failed gates are printed once, at the end.
  const reason =
    columns === null && record.verdict === 'fail' ? headline(record) : splitReason(record.reason).sentence
  return `${line}\n    ${palette.verdict(record.verdict, fitted(reason))}`
}

const maxRegressions = 20

/** Totals, regressions, the verdict of the run, and what to do next. */
function conclusion(run: FinishedRun, columns: number, palette: Palette): string[] {
  const { summary } = run
  const ending = runEnding(run)
  const tone = toneOf[ending]
  const [first = '', ...rest] = wrapText(
    `${ending.toUpperCase()}  ${runSentence(run)}`,
    Math.max(10, columns - 3),
  )
  return [
    '',
    palette.bold('Totals'),
    '',
    ...labelled(totals(summary), columns, palette),
    ...regressions(run, columns, palette),
    '',
    `${palette.mark(tone)} ${palette.bold(palette.verdict(tone, first))}`,
    ...rest.map((line) => `  ${palette.bold(palette.verdict(tone, line))}`),
    '',
    // Paths are not wrapped: the terminal does it, and a selected path stays in one piece.
    `  ${palette.dim('Files')}  ${plainLine(run.runDir)}`,
    ...labelled(
      nextSteps(run).map((step): [string, string] => ['Next ', plainLine(step)]),
      columns,
      palette,
    ),
  ]
}

function regressions({ summary }: FinishedRun, columns: number, palette: Palette): string[] {
  if (summary.regressions.length === 0) return []
  const shown = summary.regressions.slice(0, maxRegressions)
  const hidden = summary.regressions.length - shown.length
  return [
    '',
    palette.bold('Regressions'),
    '',
    ...shown.flatMap((found) => {
      const [first = '', ...rest] = wrapText(
        `${found.severity}: ${plainLine(found.case)} (${agentName(found)}): ${plainLine(found.message)}`,
        Math.max(10, columns - 3),
      )
      const paint =
        found.severity === 'alert' ? (text: string) => palette.verdict('fail', text) : palette.warn
      return [`  ${paint(first)}`, ...rest.map((line) => `  ${line}`)]
    }),
    ...(hidden > 0 ? [palette.dim(`  and ${counted(hidden, 'more regression')}`)] : []),
  ]
}

/** Label and value side by side; values are wrapped beneath themselves. */
function labelled(rows: readonly (readonly [string, string])[], columns: number, palette: Palette): string[] {
  const labelWidth = Math.max(0, ...rows.map(([label]) => label.length))
  return rows.flatMap(([label, value], index) => {
    const repeated = index > 0 && rows[index - 1]?.[0] === label
    return wrapText(value, Math.max(10, columns - labelWidth - 5)).map((line, at) => {
      const shown = (at > 0 || repeated ? '' : label).padEnd(labelWidth)
      return `  ${palette.dim(shown)}  ${line}`
    })
  })
}

const toneOf: Readonly<Record<ReturnType<typeof runEnding>, Verdict>> = {
  pass: 'pass',
  fail: 'fail',
  infra: 'infra',
  invalid: 'invalid',
  partial: 'infra',
  inconclusive: 'invalid',
  interrupted: 'infra',
}
