import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { GantryError } from '../core/error.ts'
import { parseJson } from '../core/json-fields.ts'
import type { TrialRecord } from '../core/trial.ts'
import { version } from '../core/version.ts'
import { makeDirectories } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { packTree, unpackTree } from '../io/pack-tree.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import { lazyBoundary } from '../models/boundary/lazy-boundary.ts'
import { createRun } from '../store/create-run.ts'
import { openStore } from '../store/open-store.ts'
import {
  leaseSeconds,
  type TrialClaim,
  type TrialNeed,
  type TrialOutcome,
  type TrialQueue,
  type WorkerFacts,
} from '../store/trial-queue/contract.ts'
import { runTrials } from '../trials/run-trials.ts'
import type { ScenarioTrial } from './plan.ts'
import { prepareRun } from './prepare-run.ts'
import type { QueuedDocument } from './queued-run.ts'
import { retryPolicy } from './run.ts'
import { plannedTrials, scenarioTrials, storeTrial } from './scenario-trials.ts'

export interface WorkOptions {
  readonly queue: TrialQueue
  readonly worker: WorkerFacts
  /** Only trials of these agents; empty: of any. */
  readonly onlyAgents: readonly string[]
  /** Ends when nothing waits, instead of waiting for more. */
  readonly untilEmpty: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  note(message: string): void
}

const pollMs = 500

/** Takes trials from the queue until it is interrupted or drained. Needs nothing of the projects on this machine. */
export async function workQueue(options: WorkOptions): Promise<{ readonly trials: number }> {
  const { queue, worker, signal } = options
  using scratch = temporaryDirectory('gantry-work-')
  await using boundary = lazyBoundary()
  const site = { options, root: scratch.path, boundary: boundary.get, opened: new Map() } satisfies Site
  let isDraining = false
  let trials = 0
  const look = async (): Promise<void> => {
    isDraining = (await queue.register(worker)).isDraining
    await queue.expire()
  }
  await look()
  const timer = setInterval(() => void look().catch(() => {}), (leaseSeconds * 1000) / 3)
  const slot = async (): Promise<void> => {
    while (!signal.aborted && !isDraining) {
      const claim = await queue.claim(worker.id, (need) => fits(need, options), 0)
      if (claim !== null) {
        await workOn(claim, site)
        trials += 1
      } else if (options.untilEmpty) return
      else await sleep(pollMs, undefined, { signal }).catch(() => {})
    }
  }
  try {
    await Promise.all(Array.from({ length: worker.slots }, slot))
  } finally {
    clearInterval(timer)
    await queue.unregister(worker.id)
  }
  return { trials }
}

/** An agent of another version would make other results within one run. */
function fits(need: TrialNeed, { worker, onlyAgents }: WorkOptions): boolean {
  return (
    need.gantry === version &&
    need.labels.every((label) => worker.labels.includes(label)) &&
    (onlyAgents.length === 0 || onlyAgents.includes(need.agent))
  )
}

interface Site {
  readonly options: WorkOptions
  readonly root: string
  readonly boundary: ReturnType<typeof lazyBoundary>['get']
  /** By the id of the run. */
  readonly opened: Map<string, ReturnType<typeof openQueuedRun>>
}

async function workOn(claim: TrialClaim, site: Site): Promise<void> {
  const { queue, signal, note } = site.options
  const lost = new AbortController()
  const beat = setInterval(
    () => {
      queue.beat(claim).then(
        (isHeld) => (isHeld ? undefined : lost.abort()),
        // The server may be back before the lease ends.
        () => {},
      )
    },
    (leaseSeconds * 1000) / 3,
  )
  try {
    const outcome = await outcomeOf(claim, site, AbortSignal.any([signal, lost.signal]))
    if (outcome === null) return await queue.giveBack(claim)
    if (!(await queue.complete(claim, outcome)))
      note(`${claim.run} ${claim.trial}: another worker has it now, so this result is not stored`)
  } finally {
    clearInterval(beat)
  }
}

/** null: it was interrupted. */
async function outcomeOf(claim: TrialClaim, site: Site, signal: AbortSignal): Promise<TrialOutcome | null> {
  const nothing = { record: null, archive: null, costUsd: 0 }
  const opening = site.opened.get(claim.run) ?? openQueuedRun(claim.run, site)
  site.opened.set(claim.run, opening)
  try {
    const { prepared, run, store } = await opening
    const spec = parseJson(claim.spec) as ScenarioTrial
    const kept: TrialRecord[] = []
    const kind = scenarioTrials(prepared, {
      run,
      store,
      signal,
      boundary: site.boundary,
      resumed: false,
      batchedJudge: null,
      started: () => {},
      unjudged: () => {},
      keep: async (record) => {
        storeTrial(prepared, record)
        kept.push(record)
      },
    })
    const { notRun } = await runTrials(plannedTrials(prepared, [spec]), kind, {
      concurrency: 1,
      signal,
      budget: prepared.budget,
      retry: retryPolicy(prepared.request),
      note: ({ message }) => site.options.note(message),
    })
    if (signal.aborted) return null
    const [record] = kept
    if (record === undefined) return { ...nothing, why: notRun[0]?.why ?? 'the worker could not run it' }
    const archive = packTree(record.dir)
    removeTree(record.dir)
    return { record: JSON.stringify(record), archive, costUsd: record.costUsd }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    if (signal.aborted) return null
    return { ...nothing, why: `worker ${site.options.worker.host}: ${error.message}` }
  }
}

/** Unpacks the project of a run and prepares it, once for all its trials. */
async function openQueuedRun(runId: string, { options, root }: Site) {
  const { queue, env, signal } = options
  const queued = await queue.run(runId)
  if (queued === null) throw new GantryError('NOT_FOUND', `the queue has no run ${runId}`)
  const { title, place, configFile, plan } = parseJson(queued.document) as QueuedDocument
  const [project, home] = [join(root, runId, 'project'), join(root, runId, 'store')]
  makeDirectories(home)
  unpackTree(await queue.get(queued.project), project)
  const cwd = join(project, place)
  const { configFile: _, maxCostUsd: __, ...request } = plan.request
  const prepared = await prepareRun(
    { ...request, cwd, cache: false, judgeBatch: 'never', ...(configFile !== null && { configFile }) },
    env,
    signal,
  )
  const differs = Object.keys(plan.identity).find((name) => plan.identity[name] !== prepared.identity[name])
  if (differs !== undefined) throw new GantryError('USAGE', `${differs} differs from that of the submitter`)
  const store = openStore({ env: {}, cwd, root: home })
  return { prepared, store, run: createRun(store, { kind: 'scenario', title, argv: [], cwd }) }
}
