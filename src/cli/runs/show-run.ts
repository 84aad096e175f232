import pc from 'picocolors'
import { formatDuration } from '../../core/duration.ts'
import { plainLine } from '../../report/plain-text.ts'
import { formatRate } from '../../report/quantity.ts'
import type { Manifest, RunRow, Store, StoredRun } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'
import { readManifestState } from '../../store/read-manifest.ts'
import { parseRunId } from '../../store/run-id.ts'
import { readRunRow } from '../../store/run-row.ts'
import type { CliContext } from '../context.ts'
import { costOf } from './cost-of.ts'
import { paintStatus } from './paint-status.ts'

/** A whole run. Trials are written as they are read, so that a run of thousands needs no memory. */
export async function showRun(
  store: Store,
  runId: string,
  json: boolean,
  context: CliContext,
): Promise<void> {
  const run = openRun(store, runId)
  const state = readManifestState(run.dir)
  const manifest = state.kind === 'whole' ? state.manifest : null
  if (json) {
    await printJson(run, manifest, context)
    return
  }
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
  stdout.write(`${bold(row.id)}  ${paintStatus(row.status, row.status, stdout.color)}\n`)
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
    line('cost', `${costOf(row.totals)}${unmetered}`)
    line('time', formatDuration(duration_ms))
  }
  const summary = run.summary()
  if (summary !== null) line('pass rate', formatRate(summary.passRate))
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
    ...flags.map(([flag]): [string, string] => [
      'kept',
      [flag, reasonOf(reasons, flag)].filter(Boolean).join(': '),
    ]),
  ]
}

function reasonOf(reasons: Readonly<Record<string, string>>, flag: string): string {
  return reasons[flag] ?? ''
}

async function printTrials(run: StoredRun, { stdout }: CliContext): Promise<void> {
  const { dim } = pc.createColors(stdout.color)
  for await (const trial of run.trials()) {
    const verdict = paintStatus(trial.verdict.padEnd(7), trial.verdict, stdout.color)
    stdout.write(`\n${verdict} ${plainLine(trial.id)}\n`)
    stdout.write(`        ${plainLine(trial.reason)}\n`)
    stdout.write(`        ${dim(trial.dir)}\n`)
  }
}
