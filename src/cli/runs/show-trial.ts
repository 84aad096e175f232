import pc from 'picocolors'
import { formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { TokenUsage, TrialRecord } from '../../core/trial.ts'
import { namesIn } from '../../io/directory.ts'
import { splitReason } from '../../report/failure-lines.ts'
import { plainLine } from '../../report/plain-text.ts'
import { formatCost, formatScore } from '../../report/quantity.ts'
import type { Store } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'
import { readTrial, trialIds } from '../../store/read-trials.ts'
import type { CliContext } from '../context.ts'
import { findTrial } from './find-trial.ts'
import { paintStatus } from './paint-status.ts'

/** One trial: verdict, gates and the files it left. */
export async function showTrial(
  store: Store,
  runId: string,
  wanted: string,
  json: boolean,
  { stdout }: CliContext,
): Promise<void> {
  const run = openRun(store, runId)
  const trialId = findTrial(trialIds(run.dir), wanted, runId)
  const record = readTrial(run.dir, trialId)
  const dir = run.trialDir(trialId)
  const files = namesIn(dir).sort()
  if (json) {
    stdout.write(
      `${JSON.stringify({ run_id: runId, trial_id: trialId, trial_dir: dir, trial: record, files })}\n`,
    )
    return
  }
  const { bold, dim } = pc.createColors(stdout.color)
  stdout.write(
    `${bold(trialId)}  ${record === null ? dim('not finished') : paintStatus(record.verdict, record.verdict, stdout.color)}\n`,
  )
  if (record !== null) for (const line of recordLines(record, stdout.color)) stdout.write(`${line}\n`)
  stdout.write(`${dim('files'.padEnd(9))} ${dir}\n`)
  for (const name of files) stdout.write(`          ${plainLine(name)}\n`)
}

function recordLines(record: TrialRecord, color: boolean): string[] {
  const { dim, green, red } = pc.createColors(color)
  const line = (label: string, value: string): string => `${dim(label.padEnd(9))} ${plainLine(value)}`
  const reason = splitReason(record.reason)
  return [
    line('reason', reason.sentence),
    ...reason.lines.map((text) => `          ${text}`),
    line('case', `${record.case} (${record.file})`),
    line('agent', `${record.agent}, model ${record.model}, attempt ${record.attempt}`),
    line('started', record.startedAt),
    line('time', formatDuration(record.durationMs)),
    line('cost', formatCost(record.costUsd)),
    ...(record.usage ?? []).map(({ model, tokens, costUsd }) =>
      line(
        'used',
        `${model}: ${formatCount(inputOf(tokens))} in, ${formatCount(tokens.output)} out, worth ${formatCost(costUsd)}`,
      ),
    ),
    ...(record.score === null ? [] : [line('score', `${formatScore(record.score)} ${record.tier ?? ''}`)]),
    ...(record.cachedFrom === null ? [] : [line('cached', `made by ${record.cachedFrom}`)]),
    ...record.gates.map(
      (gate) =>
        `${dim('gate'.padEnd(9))} ${gate.passed ? green('pass') : red('fail')} ${plainLine(gate.type)}: ${plainLine(gate.message)}`,
    ),
    ...record.warnings.map((warning) => line('warning', warning)),
  ]
}

function inputOf({ input, cacheRead, cacheWrite }: TokenUsage): number {
  return input + cacheRead + cacheWrite
}
