import type { CaseFacts } from '../core/case-facts.ts'
import type { ComparedSide } from '../core/compare-facts.ts'
import { GantryError } from '../core/error.ts'
import { gitInfo } from '../io/git.ts'
import type { Reporter } from '../report/contract.ts'
import type { LiveRun, Store, StoredRun } from '../store/contract.ts'
import { createRun } from '../store/create-run.ts'
import { findRun } from '../store/find-run.ts'
import { openRun } from '../store/open-run.ts'
import { resumeRun } from '../store/resume-run.ts'
import type { ScenarioTrial } from './plan.ts'
import { type PreparedRun, refuseMissingCassettes } from './prepare-run.ts'
import { isFree } from './scenario-trials.ts'
import { caseInputs } from './trial-key.ts'

export interface RunContext {
  readonly store: Store
  readonly reporter: Reporter
  readonly signal: AbortSignal
  /** The command line, for the manifest. */
  readonly argv: readonly string[]
  /** What the run is compared with when it has ended. Its id goes into the manifest, as that of the baseline does. */
  readonly against?: ComparedSide
  /** A run whose regressions are listed. */
  readonly baseline?: { readonly runId: string; readonly facts: readonly CaseFacts[] }
  /** What a comparison or the baseline must find for exit code 1; the last line of a report names it. */
  readonly failOn?: 'worse' | 'inconclusive' | 'regression'
  /** Id of a run to continue instead of starting a new one. */
  readonly resume?: string
}

/** Name of the configuration among the inputs of a run. */
export const configInput = 'gantry.yaml'
/** The frozen input with the hashes of each case. */
export const casesInput = 'cases.json'

/** A new run with its inputs and plan stored, or an earlier one that is resumed. */
export async function openLiveRun(prepared: PreparedRun, context: RunContext): Promise<LiveRun> {
  const { store, resume, argv, baseline } = context
  if (resume !== undefined) {
    const id = findRun(store, resume, { kind: 'scenario' })
    // Checked first, so that a refused run stays unchanged.
    refuseChanges(prepared, openRun(store, id))
    return resumeRun(store, id)
  }
  refuseMissingCassettes(prepared)
  const { project, request, agents, targets, redaction } = prepared
  const git = await gitInfo(project.root)
  const run = createRun(store, {
    kind: 'scenario',
    title: titleOf(prepared),
    argv: argv.map(redaction.text),
    cwd: request.cwd,
    ...(git !== null && { dirty: git.dirty, ...(git.commit !== null && { commit_sha: git.commit }) }),
    agents: Object.fromEntries([...agents].map(([name, { probe }]) => [name, probe.version ?? 'unknown'])),
    details: {
      ...(costsNothing(prepared) && { free: true }),
      ...('queue' in context && { queued: true }),
      ...(request.shard !== undefined && { shard: `${request.shard.index}/${request.shard.count}` }),
    },
    target: [...targets.values()].find((identity) => identity.version !== null)?.version ?? null,
    refers_to: [baseline?.runId, context.against?.runId].filter((id) => id !== undefined),
    onWarning: (message) => context.reporter.note?.({ level: 'warning', message }),
  })
  for (const entry of prepared.cases.values()) run.freeze(entry.shownFile, redaction.text(entry.source.text))
  run.freeze(casesInput, JSON.stringify(caseInputs([...prepared.cases.values()])))
  if (project.source !== null) run.freeze(configInput, redaction.text(project.source.text))
  run.writePlan(planDocument(prepared))
  return run
}

/** Scripted agents and answers of a script or a cassette, without a judge: cost that is unknown is then none. */
function costsNothing(prepared: PreparedRun): boolean {
  const { agents, judge } = prepared
  return (
    judge === null &&
    [...agents].every(([name, { driver }]) => driver.name === 'scripted' || isFree(prepared, name))
  )
}

/** `plan.json`: the request, and the trials with keys that show on resumption that nothing has changed. A shard has those of all shards. */
function planDocument({ request, identity, trials, planned, keyOf }: PreparedRun) {
  const keyed = function* (of: readonly ScenarioTrial[]) {
    for (const trial of of) yield { ...trial, key: keyOf(trial) }
  }
  const all = request.shard !== undefined && { planned: [...keyed(planned)] }
  return { request, identity, ...all, trials: keyed(trials) }
}

function refuseChanges(prepared: PreparedRun, run: StoredRun): void {
  const { status, details } = run.manifest()
  const from = details.regraded_from
  if (details.queued === true && (status === 'running' || status === 'interrupted'))
    throw new GantryError('USAGE', `${run.id} is in a queue, whose workers would run its trials, too`, {
      hint: `Continue it with: gantry runs follow ${run.id}. If the queue is lost, start a new run; trials that ended come from the cache.`,
    })
  if (from !== undefined)
    throw new GantryError('USAGE', `${run.id} only grades the work of ${from}: there is no agent to resume`, {
      hint: `Start it again: gantry runs regrade ${from}`,
    })
  const frozen = new Map(
    (run.plan()?.trials ?? []).map((trial) => [trial.id, 'key' in trial ? trial.key : null]),
  )
  const changed = prepared.trials.find((trial) => frozen.get(trial.id) !== prepared.keyOf(trial))
  if (changed === undefined && frozen.size === prepared.trials.length) return
  throw new GantryError(
    'USAGE',
    `${run.id} cannot be resumed: ${changed === undefined ? 'its plan' : `'${changed.case}' with ${changed.agent}`} has changed since it started`,
    {
      hint: 'A run must not mix results of two versions. Start a new one; unchanged trials come from the cache.',
    },
  )
}

export function titleOf({ cases, agents }: PreparedRun): string {
  const [only] = cases.keys()
  const what = cases.size === 1 && only !== undefined ? only : `${cases.size} scenarios`
  return `${what} with ${[...agents.keys()].join(', ')}`
}
