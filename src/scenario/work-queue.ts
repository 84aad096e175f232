import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { addCost } from '../core/add-cost.ts'
import { GantryError } from '../core/error.ts'
import { parseJson } from '../core/json-fields.ts'
import type { TrialRecord } from '../core/trial.ts'
import { monotonicMs, systemClock } from '../io/clock.ts'
import { makeDirectories } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { packTree, unpackTree } from '../io/pack-tree.ts'
import { begunUsage } from '../model-link/agent-cost.ts'
import { lazyBoundary } from '../models/boundary/lazy-boundary.ts'
import { createBudget } from '../models/budget.ts'
import { createRun } from '../store/create-run.ts'
import { openStore } from '../store/open-store.ts'
import {
  type ClaimEnding,
  type EndedClaim,
  isTaskId,
  type LaneWork,
  noSuchRun,
  type QueuedRun,
  type TrialClaim,
  type TrialLane,
  type TrialQueue,
  type WorkerFacts,
} from '../store/trial-queue/contract.ts'
import { misfit } from '../store/trial-queue/why-waiting.ts'
import type { AttemptFailure } from '../trials/contract.ts'
import { nextAttempt } from '../trials/next-attempt.ts'
import { runTrials } from '../trials/run-trials.ts'
import type { ScenarioTrial } from './plan.ts'
import { prepareRun } from './prepare-run.ts'
import type { QueuedDocument } from './queued-run.ts'
import { retryPolicy } from './run.ts'
import { plannedTrials, scenarioTrials, storeTrial } from './scenario-trials.ts'
import { diskFull } from './trial.ts'

export interface WorkOptions {
  readonly queue: TrialQueue
  readonly worker: Omit<WorkerFacts, 'refusals'>
  /** Ends when nothing waits, instead of waiting for more. */
  readonly untilEmpty: boolean
  /** A directory for all that it writes. */
  readonly root: string
  /** Prepares a coding task. `root`: a directory for it, removed when the task has ended. */
  openTask(queued: QueuedRun, root: string, signal: AbortSignal): Promise<LaneWork>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  note(message: string): void
}

const pollMs = 500
/** What a worker refused may work later, for example when the disk is not full any more. */
const refusalMs = 5 * 60_000
/** Limits of a provider last hours. On a queue a trial waits for them without taking the place of another. */
const longestPauseMs = 24 * 3_600_000

/** Trials that take less are taken several at a time, and their results are stored together after a moment. */
const shortMs = 500
const togetherMs = 100
const atOnce = 4

/** Takes trials from the queue until it is interrupted or drained. Needs nothing of the projects on this machine. */
export async function workQueue(options: WorkOptions): Promise<{ readonly trials: number }> {
  const { queue, note } = options
  await using boundary = lazyBoundary()
  const refusals = new Map<string, { readonly why: string; readonly untilMs: number }>()
  const lanes = new Map<string, ReturnType<typeof openLane>>()
  const projects = new Map<string, Promise<string>>()
  const facts = (): WorkerFacts => ({
    ...options.worker,
    refusals: Object.fromEntries([...refusals].map(([lane, { why }]) => [lane, why])),
  })
  let isDraining = false
  let trials = 0
  const look = async (): Promise<void> => {
    for (const [lane, { untilMs }] of refusals) if (untilMs < monotonicMs()) refusals.delete(lane)
    isDraining = (await queue.register(facts())).isDraining
    // Before their leases end: a slot takes longer than was expected.
    await giveBackAhead()
    await queue.expire()
    const open = await queue.lanes()
    for (const lane of lanes.keys()) if (!open.some(({ name }) => name === lane)) lanes.delete(lane)
    for (const run of projects.keys()) {
      if (open.some((lane) => lane.run === run)) continue
      projects.delete(run)
      removeTree(join(options.root, run))
    }
  }
  const refuse = async (run: string, lane: string, why: string): Promise<void> => {
    lanes.delete(lane)
    refusals.set(lane, { why, untilMs: monotonicMs() + refusalMs })
    note(`this worker cannot run trials of ${run}: ${why}`)
    await queue.register(facts())
  }
  const failing = new AbortController()
  const signal = AbortSignal.any([options.signal, failing.signal])
  let failure: { readonly error: unknown } | null = null
  /** The slots end, and each gives its trial back. */
  const fail = (error: unknown): void => {
    failure ??= { error }
    failing.abort()
  }
  let lastMs = Number.POSITIVE_INFINITY
  /** Taken, but not begun. */
  const ahead: TrialClaim[] = []
  const giveBackAhead = async (): Promise<void> => {
    for (const claim of ahead.splice(0)) await queue.giveBack(claim, null)
  }
  let batch: { readonly ended: EndedClaim[]; readonly stored: Promise<readonly boolean[]> } | null = null
  const site: Site = {
    options: { ...options, signal },
    root: options.root,
    boundary: boundary.get,
    projects,
    refuse,
    giveBackAhead,
    async store(result) {
      const ended = batch?.ended ?? []
      batch ??= {
        ended,
        stored: sleep(lastMs < shortMs ? togetherMs : 0).then(() => {
          batch = null
          return queue.complete(ended)
        }),
      }
      const at = ended.push(result) - 1
      return (await batch.stored)[at] ?? false
    },
  }
  /** Opened before a trial is taken: a worker that cannot work on it takes none. */
  const fits = async (lane: TrialLane): Promise<boolean> => {
    if (misfit(lane, facts()) !== null) return false
    const opening = lanes.get(lane.name) ?? openLane(lane, site)
    lanes.set(lane.name, opening)
    try {
      await opening
      return true
    } catch (error) {
      if (!(error instanceof GantryError) || error.code === 'QUEUE_UNAVAILABLE') throw error
      if (!signal.aborted && lanes.has(lane.name)) await refuse(lane.run, lane.name, error.message)
      return false
    }
  }
  const take = async (): Promise<number> => {
    const most = lastMs < shortMs ? atOnce * options.worker.slots : 1
    const claims = await queue.claim(options.worker.id, fits, most)
    ahead.push(...claims)
    return claims.length
  }
  let taking: Promise<number> | null = null
  const next = async (): Promise<TrialClaim | undefined> => {
    while (ahead.length === 0) {
      taking ??= take().finally(() => {
        taking = null
      })
      if ((await taking) === 0) return undefined
    }
    return ahead.shift()
  }
  const working = new Set<Promise<void>>()
  const slot = async (): Promise<void> => {
    while (!signal.aborted && !isDraining) {
      const claim = await next()
      const lane = claim === undefined ? undefined : lanes.get(claim.lane)
      if (claim !== undefined && lane !== undefined && !signal.aborted) {
        const started = monotonicMs()
        const { promise: ran, resolve } = Promise.withResolvers<void>()
        const work = workOn(claim, await lane, site, resolve)
          .catch(fail)
          .finally(() => working.delete(work))
        working.add(work)
        // Its result is stored while the next one runs.
        await Promise.race([ran, work])
        lastMs = monotonicMs() - started
        trials += 1
      } else if (claim !== undefined) await queue.giveBack(claim, null)
      else if (options.untilEmpty) return
      else await sleep(pollMs, undefined, { signal }).catch(() => {})
    }
  }
  await look()
  const timer = setInterval(() => void look().catch(() => {}), (queue.leaseSeconds * 1000) / 3)
  try {
    await Promise.all(Array.from({ length: options.worker.slots }, () => slot().catch(fail)))
    await Promise.all(working)
    if (failure !== null) throw (failure as { readonly error: unknown }).error
  } finally {
    clearInterval(timer)
    await giveBackAhead()
    await queue.unregister(options.worker.id)
  }
  return { trials }
}

interface Site {
  readonly options: WorkOptions
  readonly root: string
  readonly boundary: ReturnType<typeof lazyBoundary>['get']
  /** Where the files of a run are, by its id. */
  readonly projects: Map<string, Promise<string>>
  refuse(run: string, lane: string, why: string): Promise<void>
  giveBackAhead(): Promise<void>
  /** false: the lease was lost. */
  store(result: EndedClaim): Promise<boolean>
}

async function workOn(claim: TrialClaim, lane: LaneWork, site: Site, ran: () => void): Promise<void> {
  const { queue, signal, note } = site.options
  const lost = new AbortController()
  const beat = async (): Promise<void> => {
    if (!(await queue.beat(claim, await lane.spentUsd(claim)))) lost.abort()
  }
  // The server may be back before the lease ends.
  const timer = setInterval(() => void beat().catch(() => {}), (queue.leaseSeconds * 1000) / 3)
  try {
    const ending = await lane.run(claim, AbortSignal.any([signal, lost.signal]))
    if (ending.kind === 'settled') {
      ran()
      if (!(await site.store({ claim, outcome: ending.outcome })))
        note(`${claim.run} ${claim.trial}: another worker has it now, so this result is not stored`)
    } else if (ending.kind === 'limited') {
      await queue.pause(claim.group, ending.waitMs, ending.why)
      await queue.giveBack(claim, { spentUsd: ending.spentUsd, pausedMs: ending.waitMs })
      await site.giveBackAhead()
    } else {
      if (ending.kind === 'refused') await site.refuse(claim.run, claim.lane, ending.why)
      const spentUsd = ending.kind === 'refused' ? ending.spentUsd : await lane.spentUsd(claim)
      await queue.giveBack(claim, { spentUsd })
    }
  } catch (error) {
    await queue.giveBack(claim, { spentUsd: await lane.spentUsd(claim) })
    throw error
  } finally {
    clearInterval(timer)
    lane.clean(claim)
  }
}

async function endingOf(
  claim: TrialClaim,
  { prepared, run, store, agentDiffers }: ScenarioLane,
  { boundary, options }: Site,
  signal: AbortSignal,
): Promise<ClaimEnding> {
  const kept: TrialRecord[] = []
  const spec = parseJson(claim.spec) as ScenarioTrial & { readonly key?: string | null }
  let [lostUsd, limit] = [0 as number | null, null as { waitMs: number; why: string } | null]
  const kind = scenarioTrials(prepared, {
    run,
    store,
    signal,
    boundary,
    resumed: false,
    batchedJudge: null,
    started: () => {},
    unjudged: () => {},
    keep: async (record) => {
      storeTrial(prepared, record)
      kept.push(record)
    },
  })
  const policy = retryPolicy(prepared.request)
  const history = { tries: claim.tries - 1, retries: 0, pausedMs: claim.pausedMs }
  const mayHelp = (failure: AttemptFailure): boolean => {
    const now = systemClock.now().getTime()
    const next = nextAttempt(failure, history, { ...policy, maxPauseMs: longestPauseMs }, now)
    if (next?.isLimited === true) limit = { waitMs: next.waitMs, why: failure.message }
    return limit === null && policy.mayHelp(failure)
  }
  try {
    const { notRun } = await runTrials(
      plannedTrials(prepared, [spec]),
      {
        ...kind,
        keep: (trial, record, earlier) => {
          lostUsd = earlier.costUsd
          return kind.keep(trial, record, earlier)
        },
      },
      {
        concurrency: 1,
        signal,
        budget: createBudget(claim.limitUsd),
        retry: { ...policy, mayHelp },
        note: ({ message }) => options.note(message),
      },
    )
    if (signal.aborted) return { kind: 'interrupted' }
    const [record] = kept
    if (record === undefined) {
      const [{ why, costUsd } = { why: 'the worker could not run it', costUsd: 0 }] = notRun
      return { kind: 'settled', outcome: { record: null, archive: null, costUsd, why } }
    }
    const spentUsd = addCost(lostUsd, record.costUsd) ?? 0
    if (limit !== null) return { kind: 'limited', spentUsd, ...(limit as { waitMs: number; why: string }) }
    if (record.reason === diskFull) return { kind: 'refused', spentUsd, why: record.reason }
    const warnings = [...record.warnings, ...(agentDiffers === null ? [] : [agentDiffers])]
    const noted: TrialRecord = { ...record, warnings, cacheKey: spec.key ?? null }
    const outcome = {
      record: JSON.stringify(noted),
      archive: packTree(record.dir),
      costUsd: record.costUsd,
      lostUsd: lostUsd ?? 0,
    }
    return { kind: 'settled', outcome }
  } catch (error) {
    if (signal.aborted) return { kind: 'interrupted' }
    if (!(error instanceof GantryError)) throw error
    return { kind: 'refused', spentUsd: addCost(lostUsd, kept[0]?.costUsd ?? 0) ?? 0, why: error.message }
  }
}

/** Prepares the run for the agent of a lane, once for all its trials. Throws GantryError when this machine cannot run them. */
async function openLane(lane: TrialLane, site: Site): Promise<LaneWork> {
  const queued = await site.options.queue.run(lane.run)
  if (queued === null) throw noSuchRun(lane.run)
  if (isTaskId(lane.run)) {
    // Its directory is removed with the others of runs that have ended.
    const root = join(site.root, lane.run)
    site.projects.set(lane.run, Promise.resolve(root))
    return site.options.openTask(queued, root, site.options.signal)
  }
  const opened = await openScenario(lane, queued, site)
  const dirOf = ({ trial }: TrialClaim): string => opened.run.trialDir(trial)
  return {
    run: (claim, signal) => endingOf(claim, opened, site, signal),
    spentUsd: async (claim) => {
      const used = await begunUsage(join(dirOf(claim), 'events.jsonl'), opened.prepared)
      return used.reduce((sum, row) => sum + (row.costUsd ?? 0), 0)
    },
    clean: (claim) => removeTree(dirOf(claim)),
  }
}

type ScenarioLane = Awaited<ReturnType<typeof openScenario>>

async function openScenario({ run: runId, need, name }: TrialLane, queued: QueuedRun, site: Site) {
  const { env, signal } = site.options
  const document = parseJson(queued.document) as QueuedDocument
  const { title, place, configFile, request: asked, identity, anyAgentVersion } = document
  const unpacking = site.projects.get(runId) ?? unpackProject(queued.project, runId, site)
  site.projects.set(runId, unpacking)
  const cwd = join(await unpacking, place)
  const { configFile: _, maxCostUsd: __, ...request } = asked
  const prepared = await prepareRun(
    { ...request, cwd, cache: false, judgeBatch: 'never', ...(configFile !== null && { configFile }) },
    env,
    signal,
    {},
    { onlyAgent: need.agent, temporary: site.root },
  )
  const differing = Object.keys(prepared.identity).filter(
    // A worker plans the trials of one agent only.
    (each) => identity[each] !== prepared.identity[each] && each !== 'the planned trials',
  )
  const agentDiffers = differing.includes(`agent '${need.agent}'`)
  const other = differing.find((each) => !(anyAgentVersion && each === `agent '${need.agent}'`))
  if (other !== undefined) throw new GantryError('USAGE', `${other} differs from that of the submitter`)
  const home = join(site.root, runId, name)
  makeDirectories(home)
  const store = openStore({ env: {}, cwd, root: home })
  const version = prepared.agents.get(need.agent)?.probe.version ?? 'unknown'
  return {
    prepared,
    store,
    run: createRun(store, { kind: 'scenario', title, argv: [], cwd }),
    agentDiffers: agentDiffers
      ? `${need.agent} ${version} of a worker differs from that of the submitter`
      : null,
  }
}

async function unpackProject(
  hash: string,
  runId: string,
  { root, options, projects }: Site,
): Promise<string> {
  const project = join(root, runId, 'project')
  try {
    unpackTree(await options.queue.get(hash), project)
    return project
  } catch (error) {
    projects.delete(runId)
    removeTree(project)
    throw error
  }
}
