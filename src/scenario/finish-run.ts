import { diagnose } from '../analysis/diagnosis.ts'
import type { CaseFacts } from '../core/case-facts.ts'
import { findRegressions } from '../core/regression.ts'
import type { SummaryFold } from '../core/summarize.ts'
import type { RunSummary } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import { version } from '../core/version.ts'
import type { FinishedRun, RunHeader } from '../report/contract.ts'
import { eventsForPeople } from '../report/finished-run.ts'
import { applyRetention } from '../store/apply-retention.ts'
import type { ExecutedCommand, LiveRun, ManifestChange } from '../store/contract.ts'
import { asideCostUsd } from '../trials/put-aside.ts'
import type { RunContext } from './open-live-run.ts'
import type { ScenarioTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'

/** Ends the run, reports it, and removes runs that are no longer kept. */
export async function finishRun(end: {
  readonly context: RunContext
  readonly redaction: PreparedRun['redaction']
  readonly run: LiveRun
  readonly header: RunHeader
  readonly summary: SummaryFold
  readonly facts: readonly CaseFacts[]
  readonly traces: ManifestChange
  readonly notRun: readonly ScenarioTrial[]
  readonly unjudgedUsd: number
  readonly started: number
}): Promise<RunResult> {
  const { context, run, header, notRun } = end
  const interrupted = context.signal.aborted
  const summary = end.summary.finish({
    durationMs: Math.round(performance.now() - end.started),
    notRun: notRun.length,
    asideCostUsd: (await asideCostUsd(run)) + end.unjudgedUsd,
    regressions: context.baseline === undefined ? [] : findRegressions(context.baseline.facts, end.facts),
  })
  await run.end({
    status: interrupted ? 'interrupted' : summary.verdict,
    summary,
    change: end.traces,
  })
  const finished: FinishedRun = {
    ...header,
    endedAt: context.store.clock.now().toISOString(),
    summary,
    version,
    records: () => run.trials(),
    events: (trial) => eventsForPeople(trial, end.redaction.forPeople),
    diagnose: (trial) => diagnose(trial.metrics),
    notRun,
    interrupted,
    ...(notRun.length > 0 && { nextSteps: [`Go on with: gantry test --resume ${run.id}`] }),
  }
  await context.reporter.runEnded?.(finished)
  if (!interrupted) applyRetention(context.store, { protect: [run.id] })
  return { runId: run.id, runDir: run.dir, summary, interrupted }
}

/** A manifest is for people: past this the trials' own records tell the rest. */
const maxCommands = 500

/** What the trials of a run leave in its manifest: the agents that ran, and the runs whose results were reused. */
export function createTraces(): { add(record: TrialRecord): void; finish(): ManifestChange } {
  const commands: ExecutedCommand[] = []
  const reused = new Set<string>()
  let leftOut = 0
  return {
    add: (record) => {
      if (record.cachedFrom !== null) {
        reused.add(record.cachedFrom)
        return
      }
      if (commands.length >= maxCommands) {
        leftOut += 1
        return
      }
      commands.push({
        name: record.id,
        command: `agent ${record.agent} (${record.model}), ${record.ending}`,
        exit_code: record.agentExitCode,
        duration_ms: record.durationMs,
      })
    },
    finish: () => ({
      commands_executed: commands,
      refers_to: [...reused],
      ...(leftOut > 0 && { details: { commands_left_out: leftOut } }),
    }),
  }
}

export interface RunResult {
  readonly runId: string
  readonly runDir: string
  readonly summary: RunSummary
  readonly interrupted: boolean
}
