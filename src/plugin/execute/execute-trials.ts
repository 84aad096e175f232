import { counted } from '../../core/counted.ts'
import { systemClock } from '../../io/clock.ts'
import { createRateLimiter } from '../../io/rate-limiter.ts'
import { hasCostLimit } from '../../model-link/choose-model-link.ts'
import { atMost } from '../../models/batch/at-most.ts'
import type { PluginLoad } from '../analyze/contract.ts'
import { unasked } from './attempt.ts'
import { freezeTemplate } from './freeze-template.ts'
import type { GroupWork } from './group-work.ts'
import { keepTrial } from './keep-trial.ts'
import { checkPluginLoad } from './load/check-plugin-load.ts'
import { dropUnconnected } from './load/drop-unconnected.ts'
import { createPause } from './pause.ts'
import { processSettings } from './process-settings.ts'
import type { ExecuteRequest, ExecutionReport } from './request.ts'
import { runGroup } from './run-group.ts'
import { sessionOpener } from './session-opener.ts'
import { openSpending } from './spending.ts'
import { createTally } from './tally.ts'
import { type GroupedTrial, groupTrials } from './trial-groups.ts'

/**
 * Makes the trials that are not done yet, each kept as soon as it is finished: whoever goes on after any end of this process
 * repeats none of them. Throws GantryError USAGE for an agent that cannot try a plugin.
 */
export async function executeTrials(request: ExecuteRequest): Promise<ExecutionReport> {
  const started = performance.now()
  sessionOpener(request, processSettings(request, 'without', null))
  const tally = createTally()
  const open = openTrials(request)
  const load = await loadOf(request, open)
  using template = freezeTemplate(request)
  const runnable = await withoutHopeless(open, load, request, tally)
  // The first fault of the machine ends everything that is under way.
  const fault = new AbortController()
  const halted = {
    ...request,
    config: await template.config(),
    signal: AbortSignal.any([request.signal, fault.signal]),
  }
  const groups = groupTrials(request, runnable)
  const hands = Math.min(request.config.max_concurrent, Math.max(1, groups.length))
  const work: GroupWork = {
    request: halted,
    tally,
    limiter: createRateLimiter(request.config.execution.requests_per_second),
    pause: createPause(),
    spending: openSpending({
      ...request,
      hands,
      isFree: request.modelLink !== null && !hasCostLimit(request.modelLink.model, request.agent.meter),
    }),
  }
  const failures: unknown[] = []
  await atMost(hands, groups, async (group) => {
    try {
      await runGroup(group, work)
    } catch (error) {
      failures.push(error)
      fault.abort()
    }
  })
  if (failures.length > 0) throw failures[0]
  const report = tally.report()
  const stopped = request.signal.aborted ? 'interrupted' : report.not_run.length > 0 ? 'budget' : null
  if (stopped === 'budget') noteBudget(work)
  return { ...report, duration_ms: Math.round(performance.now() - started), load, stopped }
}

function openTrials({ scenarios, trials, done }: ExecuteRequest): readonly GroupedTrial[] {
  const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]))
  return trials.flatMap((trial) => {
    const scenario = byId.get(trial.scenario_id)
    if (scenario === undefined) throw new Error(`trial ${trial.id} is of no scenario`)
    return done.has(trial.id) ? [] : [{ trial, scenario }]
  })
}

/** The CLI is asked once what it makes of the plugin, before anything is paid for. */
async function loadOf(request: ExecuteRequest, open: readonly GroupedTrial[]): Promise<PluginLoad | null> {
  if (request.load !== undefined) return request.load
  if (request.signal.aborted || open.every(({ trial }) => trial.arm === 'without')) return null
  const load = await checkPluginLoad(request)
  for (const message of load.warnings) request.onStep({ kind: 'note', level: 'warning', message })
  return load
}

/** Trials of a plugin that does not load are invalid, and those of a server that is not there are left out: no process is started for them. */
async function withoutHopeless(
  open: readonly GroupedTrial[],
  load: PluginLoad | null,
  request: ExecuteRequest,
  tally: GroupWork['tally'],
): Promise<readonly GroupedTrial[]> {
  if (load === null) return open
  if (!load.loaded) {
    const hint = load.recovery_hint === undefined ? '' : ` ${load.recovery_hint}`
    const invalid = `the plugin did not load: ${load.error ?? 'Claude Code does not say why'}.${hint}`
    request.onStep({ kind: 'error', message: invalid })
    const [without, hopeless] = [
      open.filter(({ trial }) => trial.arm === 'without'),
      open.filter(({ trial }) => trial.arm !== 'without'),
    ]
    // A program that never answered says nothing about the plugin.
    const why =
      load.error_type === 'timeout'
        ? { failure: { reason: 'timeout' as const, message: invalid } }
        : { failure: null, invalid }
    for (const grouped of hopeless) {
      const attempt = unasked(why, systemClock.now())
      await keepTrial(grouped, attempt, { count: 0, costUsd: 0 }, { request, tally })
    }
    return without
  }
  const { components } = request.plugin
  const { kept, dropped } = dropUnconnected(open, load, { components, config: request.config })
  tally.dropped(dropped)
  for (const reason of new Set(dropped.map((trial) => trial.reason))) {
    const count = dropped.filter((trial) => trial.reason === reason).length
    const message = `${reason}; ${count} of its trials ${count === 1 ? 'is' : 'are'} left out`
    request.onStep({ kind: 'note', level: 'warning', message })
  }
  return kept
}

function noteBudget({ request, spending, tally }: GroupWork): void {
  const count = tally.report().not_run.length
  const why = spending.refusal() ?? 'the budget is used up'
  const message = `${why}; ${counted(count, 'trial is', 'trials are')} still to be made`
  request.onStep({ kind: 'note', level: 'warning', message })
}
