import { counted, formatCount } from '../../core/counted.ts'
import { formatDuration, formatElapsed } from '../../core/duration.ts'
import { monotonicMs } from '../../io/clock.ts'
import type { PluginStage, PluginStep } from '../../plugin/contract.ts'
import { type Display, plainDisplay, terminalContext, type View } from '../../report/console/display.ts'
import { type Palette, palette } from '../../report/console/palette.ts'
import { shortenEnd, wrapText } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import { formatCost } from '../../report/quantity.ts'
import type { CliContext, CliStream } from '../context.ts'
import type { ProgressMode } from './plugin-flags.ts'

export interface StageView {
  /** Prints the run id early, so that the run can be found even if it is killed. */
  begin(pluginName: string, runId: string): void
  step(step: PluginStep): void
  /** Removes the moving part, so that other output can be written. */
  stop(): void
}

export interface StageViewOptions {
  readonly mode: ProgressMode
  readonly verbose: boolean
  readonly barWidth: number
  readonly promptLength: number
}

type StageEnd = Extract<PluginStep, { readonly kind: 'stage_complete' }>

const silentView: StageView = { begin: () => {}, step: () => {}, stop: () => {} }

const titles: Readonly<Record<PluginStage, string>> = {
  analysis: 'Analysis',
  generation: 'Generation',
  execution: 'Execution',
  evaluation: 'Evaluation',
}

/** `stream` must not receive a document. */
export async function openStageView(
  context: CliContext,
  stream: CliStream,
  options: StageViewOptions,
): Promise<StageView> {
  if (options.mode === 'none') return silentView
  if (options.mode === 'jsonl')
    return { ...silentView, step: (step) => context.stderr.write(`${JSON.stringify(step)}\n`) }
  const reporting = terminalContext({ stdout: stream, env: context.env, plain: options.mode !== 'auto' })
  const display = reporting.live
    ? (await import('../../report/console/live-display.ts')).liveDisplay(reporting)
    : plainDisplay(reporting)
  return stageView(display, stream, palette(reporting.color, reporting.ascii ?? false), options)
}

function stageView(
  display: Display,
  stream: CliStream,
  paint: Palette,
  { verbose, barWidth, promptLength }: StageViewOptions,
): StageView {
  let stage: PluginStage = 'analysis'
  let total = 0
  let done = 0
  let bad = 0
  let costUsd: number | null = 0
  let startedMs = monotonicMs()
  const running = new Set<string>()
  const facts = (): string => {
    const elapsedMs = monotonicMs() - startedMs
    const left = done > 0 && done < total ? (elapsedMs / done) * (total - done) : null
    return [
      `${formatCount(done)} of ${formatCount(total)}`,
      ...(bad > 0 ? [`${formatCount(bad)} broken`] : []),
      formatCost(costUsd),
      `${formatElapsed(elapsedMs)}${left === null ? '' : `, about ${formatElapsed(left)} left`}`,
    ].join(', ')
  }
  const bar = (): string => {
    const filled = total === 0 ? 0 : Math.round((done / total) * barWidth)
    return `${paint.full.repeat(filled)}${paint.dim(paint.empty.repeat(barWidth - filled))}`
  }
  const view: View = {
    frame: ({ columns }) => {
      const summary = facts()
      const isWide = titles[stage].length + barWidth + summary.length + 5 <= columns
      const lines = isWide
        ? [`${titles[stage]}  ${bar()}  ${summary}`]
        : [`${titles[stage]}  ${bar()}`, ...wrapText(summary, columns - 1)]
      const now = [...running]
        .slice(0, 4)
        .map((name) => paint.dim(`  ${shortenEnd(plainLine(name), columns - 3)}`))
      return ['', ...lines, ...now].join('\n')
    },
    heartbeat: () => `  ${titles[stage]}: ${facts()}, ${counted(running.size, 'scenario')} running`,
  }
  /** A stage that was stopped early has no check mark. */
  const stageLine = ({ stage: ended, count, duration_ms }: StageEnd): string => {
    const left = ended === 'execution' ? total - done : 0
    const summary = `${counted(count, unitOf[ended])}${left > 0 ? `, ${formatCount(left)} not run` : ''}`
    return `${paint.mark(left > 0 ? 'infra' : 'pass')} ${titles[ended]}  ${paint.dim(`${summary}, ${formatDuration(duration_ms)}`)}`
  }
  /** Wrapped on a terminal. In a pipe a message stays on one line, and paths are never wrapped. */
  const say = (mark: string, message: string, colour: (text: string) => string): void => {
    const text = plainLine(message)
    const room = Math.max(20, stream.columns - 3)
    const isTorn = text.split(' ').some((word) => word.length > room)
    const lines = stream.isTTY && !isTorn ? wrapText(text, room) : [text]
    for (const [index, line] of lines.entries()) display.line(colour(`${index === 0 ? mark : '  '}${line}`))
  }
  const step = (happened: PluginStep): void => {
    switch (happened.kind) {
      case 'stage_start':
        stage = happened.stage
        total = happened.total
        done = 0
        bad = 0
        costUsd = 0
        startedMs = monotonicMs()
        running.clear()
        if (total > 0) display.start(view)
        return
      case 'stage_complete':
        display.stop()
        display.line(stageLine(happened))
        return
      case 'scenario_start':
        running.add(shortenEnd(happened.trial, promptLength))
        return
      case 'scenario_complete': {
        running.delete(shortenEnd(happened.trial, promptLength))
        done += 1
        costUsd = costUsd === null || happened.cost_usd === null ? null : costUsd + happened.cost_usd
        if (happened.outcome !== 'done') bad += 1
        const why = happened.message === undefined ? '' : `: ${plainLine(happened.message)}`
        if (happened.outcome !== 'done')
          display.line(`${paint.mark(happened.outcome)} ${plainLine(happened.trial)}${why}`)
        else if (verbose)
          display.line(
            paint.dim(
              `  ${plainLine(happened.trial)}  ${formatDuration(happened.duration_ms)}, ${formatCost(happened.cost_usd)}${why}`,
            ),
          )
        return
      }
      case 'note':
        if (happened.level === 'warning') say('! ', happened.message, paint.warn)
        // The end of the stage shows how many scenarios were generated in total.
        else if (verbose || stage !== 'generation') say('  ', happened.message, paint.dim)
        return
      case 'error':
        say('! ', happened.message, paint.warn)
    }
  }
  return {
    begin: (pluginName, runId) => display.line(`${paint.bold(plainLine(pluginName))}  ${paint.dim(runId)}`),
    step,
    stop: () => display.stop(),
  }
}

const unitOf: Readonly<Record<PluginStage, string>> = {
  analysis: 'component',
  generation: 'scenario',
  execution: 'trial',
  evaluation: 'trial',
}
