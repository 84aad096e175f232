import { formatCount } from '../../core/counted.ts'
import { formatElapsed } from '../../core/duration.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { verdicts } from '../../core/verdict.ts'
import type { RunHeader, TrialHeader } from '../contract.ts'
import { displayWidth, padRight, shortenMiddle } from '../display-width.ts'
import { trialName } from '../trial-sentences.ts'
import type { Palette } from './palette.ts'

/** The progress of a run: the running trials and a few counters, so memory does not grow. */
export type RunProgress = ReturnType<ProgressTracker['now']>
export type ProgressTracker = ReturnType<typeof trackProgress>

export function trackProgress(run: RunHeader, nowMs: () => number) {
  const beganMs = nowMs()
  const running = new Map<string, { readonly trial: TrialHeader; readonly sinceMs: number }>()
  const counts = { pass: 0, fail: 0, infra: 0, invalid: 0 }
  let done = 0
  let reallyRan = 0
  let spentMs = 0
  return {
    started: (trial: TrialHeader): void => void running.set(trial.id, { trial, sinceMs: nowMs() }),
    ended(record: TrialRecord): void {
      running.delete(record.id)
      counts[record.verdict] += 1
      done += 1
      if (record.cachedFrom !== null) return
      // Trials from the cache take no time and would make the estimate too short.
      reallyRan += 1
      spentMs += record.durationMs
    },
    now() {
      const left = Math.max(0, run.trials - done)
      const lanes = Math.max(1, Math.min(run.concurrency, left))
      /** null until a trial has run. */
      const remainingMs = reallyRan === 0 ? null : ((spentMs / reallyRan) * left) / lanes
      return { planned: run.trials, done, counts, running, elapsedMs: nowMs() - beganMs, remainingMs }
    },
  }
}

/** The moving part of the live view: bar, counts, running trials. Never wider or higher than the terminal. */
export function frame(
  progress: RunProgress,
  nowMs: number,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  palette: Palette,
): string {
  const width = Math.max(10, columns - 1)
  const lines = [...barLines(progress, width, palette), countLine(progress, palette)]
  const room = Math.max(1, Math.min(rows - lines.length - 3, 12))
  return ['', ...lines, ...runningLines(progress, nowMs, width, room, palette)].join('\n')
}

function barLines(progress: RunProgress, width: number, { full, empty, dim }: Palette): string[] {
  const { done, planned } = progress
  const share = planned === 0 ? 0 : Math.min(1, done / planned)
  const count = `${formatCount(done)} of ${formatCount(planned)}`
  const time = timeText(progress)
  const oneLine = width >= displayWidth(count) + displayWidth(time) + 18
  const room = oneLine
    ? width - displayWidth(count) - displayWidth(time) - 4
    : width - displayWidth(count) - 2
  const cells = Math.max(4, Math.min(30, room))
  const filled = Math.round(share * cells)
  const bar = `${full.repeat(filled)}${dim(empty.repeat(cells - filled))}  ${count}`
  return oneLine ? [`${bar}  ${dim(time)}`] : [bar, dim(shortenMiddle(time, width))]
}

function timeText({ elapsedMs, remainingMs, done, planned }: RunProgress): string {
  const elapsed = formatElapsed(elapsedMs)
  if (remainingMs === null || done >= planned) return elapsed
  return `${elapsed}, about ${formatElapsed(remainingMs)} left`
}

function countLine({ counts, running }: RunProgress, palette: Palette): string {
  const parts = verdicts
    .filter((verdict) => verdict === 'pass' || verdict === 'fail' || counts[verdict] > 0)
    .map((verdict) => `${palette.mark(verdict)} ${formatCount(counts[verdict])}`)
  return [...parts, palette.dim(`${running.size} running`)].join('  ')
}

function runningLines(
  { running }: RunProgress,
  nowMs: number,
  width: number,
  room: number,
  { dim, ellipsis }: Palette,
): string[] {
  const shown = [...running.values()].slice(0, running.size > room ? room - 1 : room)
  const times = shown.map(({ sinceMs }) => formatElapsed(nowMs - sinceMs))
  const timeWidth = Math.max(0, ...times.map(displayWidth))
  const lines = shown.map(({ trial }, index) => {
    const name = shortenMiddle(trialName(trial), Math.max(4, width - timeWidth - 3), ellipsis)
    return `${dim(padRight(times[index] ?? '', timeWidth))}  ${name}`
  })
  const hidden = running.size - shown.length
  return hidden > 0 ? [...lines, dim(`and ${formatCount(hidden)} more`)] : lines
}
