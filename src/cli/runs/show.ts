import { join } from 'node:path'
import { Command } from 'commander'
import pc from 'picocolors'
import { formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { shorten } from '../../core/shorten.ts'
import type { TokenUsage, TrialRecord } from '../../core/trial.ts'
import { changeLines, splitReason } from '../../report/failure-lines.ts'
import { plainLine } from '../../report/plain-text.ts'
import { formatCost, formatScore } from '../../report/quantity.ts'
import { passRates } from '../../report/run-sentence.ts'
import type { Manifest, RunRow, Store, StoredRun } from '../../store/contract.ts'
import { findTrial } from '../../store/find-trial.ts'
import type { CliContext } from '../context.ts'
import { formatRunCost, formatRunStatus } from './format-run.ts'

export function showCommand(context: CliContext): Command {
  return new Command('show')
    .description('Show a run, or one of its trials: what ran, how it ended and where its files are.')
    .argument('<run>', "a run id, the beginning of one, 'latest' or 'blessed'")
    .argument('[trial]', 'a trial id, or the beginning of one')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (wanted: string, trial: string | undefined, flags: { readonly json?: boolean }) => {
      const { openProjectStore } = await import('../../config/open-project-store.ts')
      const { findRun } = await import('../../store/find-run.ts')
      const store = openProjectStore(context)
      const runId = findRun(store, wanted)
      if (trial === undefined) await showRun(store, runId, flags.json === true, context)
      else await showTrial(store, runId, trial, flags.json === true, context)
    })
}

/** A whole run. Trials are printed as they are read, so that memory does not grow. */
async function showRun(store: Store, runId: string, json: boolean, context: CliContext): Promise<void> {
  const { openRun } = await import('../../store/open-run.ts')
  const { readManifestState } = await import('../../store/manifest.ts')
  const { parseRunId } = await import('../../store/run-id.ts')
  const { readRunRow } = await import('../../store/run-row.ts')
  const run = openRun(store, runId)
  const state = readManifestState(run.dir)
  const manifest = state.kind === 'whole' ? state.manifest : null
  if (json) return printJson(run, manifest, context)
  const parsed = parseRunId(runId)
  if (parsed !== null) printHead(readRunRow(store, parsed), manifest, run, context)
  await printTrials(run, context)
}

async function printJson(run: StoredRun, manifest: Manifest | null, { stdout }: CliContext): Promise<void> {
  const head = { run_id: run.id, run_dir: run.dir, manifest, summary: run.summary() }
  stdout.write(`${JSON.stringify(head).slice(0, -1)},"trials":[`)
  let separator = ''
  for await (const trial of run.trials()) {
    stdout.write(`${separator}${JSON.stringify(trial)}`)
    separator = ','
  }
  stdout.write(']}\n')
}

function printHead(row: RunRow, manifest: Manifest | null, run: StoredRun, { stdout }: CliContext): void {
  const { bold, dim } = pc.createColors(stdout.color)
  const line = (label: string, value: string): void =>
    stdout.write(`${dim(label.padEnd(9))} ${plainLine(value)}\n`)
  stdout.write(`${bold(row.id)}  ${formatRunStatus(row.status, row.status, stdout.color)}\n`)
  if (row.title !== '') line('title', row.title)
  line('kind', row.kind)
  line('started', row.startedAt)
  if (row.endedAt !== null) line('ended', row.endedAt)
  if (manifest !== null) for (const [label, value] of manifestLines(manifest)) line(label, value)
  if (row.totals !== null) {
    const { counts, not_run, cached, unmetered_trials, duration_ms } = row.totals
    const { pass, fail, infra, invalid } = counts
    line(
      'trials',
      `${pass} pass, ${fail} fail, ${infra} infra, ${invalid} invalid, ${not_run} not run, ${cached} cached`,
    )
    const unmetered =
      unmetered_trials > 0 && row.totals.cost_usd !== null ? `, ${unmetered_trials} unmetered` : ''
    line('cost', `${formatRunCost(row.totals)}${unmetered}`)
    line('time', formatDuration(duration_ms))
  }
  const summary = run.summary()
  for (const [, rate] of summary === null ? [] : passRates(summary)) line('pass rate', rate)
  line('files', row.dir)
}

function manifestLines(manifest: Manifest): [string, string][] {
  const { versions, platform, flag_reasons: reasons } = manifest
  const agents = Object.entries(versions.agents).map(([name, version]) => `${name} ${version}`)
  const flags = Object.entries(manifest.flags).filter(([, on]) => on)
  return [
    ['command', manifest.argv.join(' ')],
    ['commit', `${manifest.commit_sha}${manifest.dirty === true ? ', with changes' : ''}`],
    ['versions', [`gantry ${versions.gantry}`, `node ${versions.node}`, ...agents].join(', ')],
    ['platform', `${platform.os} ${platform.arch}, ${platform.cpus} cpus`],
    ...(versions.target === null ? [] : [['target', versions.target] as [string, string]]),
    ...manifest.resumed_at.map((at): [string, string] => ['resumed', at]),
    ...flags.map(([flag]): [string, string] => {
      const reason = (reasons as Readonly<Record<string, string>>)[flag] ?? ''
      return ['kept', reason === '' ? flag : `${flag}: ${reason}`]
    }),
  ]
}

async function printTrials(run: StoredRun, { stdout }: CliContext): Promise<void> {
  const { dim } = pc.createColors(stdout.color)
  for await (const trial of run.trials()) {
    const verdict = formatRunStatus(trial.verdict.padEnd(7), trial.verdict, stdout.color)
    stdout.write(`\n${verdict} ${plainLine(trial.id)}\n`)
    stdout.write(`        ${plainLine(trial.reason)}\n`)
    stdout.write(`        ${dim(trial.dir)}\n`)
  }
}

const maxDiffBytes = 4 * 1024 * 1024

async function showTrial(store: Store, runId: string, wanted: string, json: boolean, { stdout }: CliContext) {
  const { namesIn } = await import('../../io/directory.ts')
  const { readShortText } = await import('../../io/read-short-text.ts')
  const { openRun } = await import('../../store/open-run.ts')
  const { readTrial, trialIds } = await import('../../store/read-trials.ts')
  const run = openRun(store, runId)
  const trialId = findTrial(trialIds(run.dir), wanted, runId)
  const record = readTrial(run.dir, trialId)
  const dir = run.trialDir(trialId)
  const files = namesIn(dir).sort()
  const diff = readShortText(join(dir, 'workspace.diff'), maxDiffBytes)
  if (json) {
    const document = {
      run_id: runId,
      trial_id: trialId,
      trial_dir: dir,
      trial: record,
      workspace_diff: diff,
      files,
    }
    return stdout.write(`${JSON.stringify(document)}\n`)
  }
  const { bold, dim } = pc.createColors(stdout.color)
  stdout.write(
    `${bold(trialId)}  ${record === null ? dim('not finished') : formatRunStatus(record.verdict, record.verdict, stdout.color)}\n`,
  )
  if (record !== null) for (const line of recordLines(record, stdout.color)) stdout.write(`${line}\n`)
  for (const line of changeLines(diff, { maxDiffLines: 200 })) stdout.write(`${line}\n`)
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
    ...(record.prompt === undefined ? [] : [line('prompt', shorten(record.prompt, 2_000))]),
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
