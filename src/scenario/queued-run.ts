import { relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { parseJson } from '../core/json-fields.ts'
import { createRedaction, type Redaction } from '../core/redaction.ts'
import { sum } from '../core/sum.ts'
import type { TrialRecord } from '../core/trial.ts'
import { version } from '../core/version.ts'
import { monotonicMs } from '../io/clock.ts'
import { makeDirectories } from '../io/directory.ts'
import { packProject } from '../io/pack-project.ts'
import { isDirectory } from '../io/path-kind.ts'
import { sha256 } from '../io/sha256.ts'
import { runHeader } from '../report/finished-run.ts'
import type { LiveRun, RunPlan } from '../store/contract.ts'
import { createRun } from '../store/create-run.ts'
import { resumeRun } from '../store/resume-run.ts'
import {
  isTaskId,
  type NewQueuedTrial,
  noSuchRun,
  type SettledTrial,
  type TrialQueue,
} from '../store/trial-queue/contract.ts'
import { unpackBlob } from '../store/trial-queue/unpack-blob.ts'
import { whyWaiting } from '../store/trial-queue/why-waiting.ts'
import { putAside } from '../trials/put-aside.ts'
import { isPairwise } from './case.ts'
import { createTally, finishRun, type RunResult } from './finish-run.ts'
import { openLiveRun, type RunContext, titleOf } from './open-live-run.ts'
import type { ScenarioTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'
import type { RunRequest } from './request.ts'
import { judgePairs } from './run.ts'
import { plannedTrials } from './scenario-trials.ts'

export interface QueueContext extends RunContext {
  readonly queue: TrialQueue
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

export interface QueueOptions {
  /** What a worker must have besides the agent. */
  readonly labels: readonly string[]
  readonly memoryMb: number
  /** Higher first. */
  readonly priority: number
  /** Workers may have agents of other versions than the submitter. */
  readonly anyAgentVersion: boolean
}

/** What a worker and a follower need of a run, besides its trials and the files of the project. */
export interface QueuedDocument {
  /** The version of Gantry that planned it. */
  readonly gantry: string
  readonly title: string
  /** Where the run was started, relative to the root of the project. */
  readonly place: string
  /** Relative to `place`. */
  readonly configFile: string | null
  readonly request: RunRequest
  readonly identity: Readonly<Record<string, string>>
  readonly agents: Readonly<Record<string, string>>
  readonly target: string | null
  readonly anyAgentVersion: boolean
  /** A judge compares answers when all have arrived. */
  readonly isPairwise: boolean
}

/** Stores the run here and in the queue, waits for its trials, and ends it like a run of this machine. */
export async function runQueued(
  prepared: PreparedRun,
  context: QueueContext,
  options: QueueOptions,
): Promise<RunResult> {
  const { queue } = context
  const { request, project, trials, identity } = prepared
  const bytes = await packProject(project.root)
  const run = await openLiveRun(prepared, context)
  const { configFile, cwd, maxCostUsd } = request
  const { agents, target } = run.manifest().versions
  const document: QueuedDocument = {
    gantry: version,
    title: titleOf(prepared),
    place: relative(project.root, cwd),
    configFile: configFile === undefined ? null : relative(cwd, resolve(cwd, configFile)),
    request,
    identity,
    agents,
    target,
    anyAgentVersion: options.anyAgentVersion,
    isPairwise: prepared.judge !== null && [...prepared.cases.values()].some(isPairwise),
  }
  try {
    const earlier =
      maxCostUsd === undefined
        ? undefined
        : await (await import('./estimate.ts')).earlierCosts(trials, context.store)
    await queue.submit({
      id: run.id,
      planHash: sha256(JSON.stringify(identity)),
      document: JSON.stringify(document),
      project: await queue.put(bytes),
      capUsd: maxCostUsd ?? null,
      priority: options.priority,
      // The queue goes through them twice.
      trials: { [Symbol.iterator]: () => queuedTrials(prepared, options, earlier) },
    })
  } catch (error) {
    // Nothing was enqueued, so nothing of it should be listed.
    run.discard()
    run.release()
    throw error
  }
  return collect(run, { document, trials, redaction: prepared.redaction, prepared }, context)
}

/** Collects a run that was submitted by this or another machine, into the store of this one. */
export async function followRun(runId: string, context: QueueContext): Promise<RunResult> {
  const { queue, store, env, cwd } = context
  const queued = await queue.run(runId)
  if (queued === null) throw noSuchRun(runId)
  if (isTaskId(runId))
    throw new GantryError('USAGE', `${runId} is a coding task`, {
      hint: `Follow it where it was submitted, with: gantry task logs ${runId} --follow`,
    })
  const document = parseJson(queued.document) as QueuedDocument
  const { gantry, title, request, identity, agents, target } = document
  if (gantry !== version)
    throw new GantryError('USAGE', `${runId} was planned by Gantry ${gantry}, and this is ${version}`, {
      hint: 'Follow it with that version. Nothing was changed here.',
    })
  const trials = (await queue.specs(runId)).map((spec) => parseJson(spec) as ScenarioTrial)
  const facts = { document, trials, redaction: createRedaction([], env), prepared: null }
  if (isDirectory(`${store.runsDir}/${runId}`)) return collect(resumeRun(store, runId), facts, context)
  const here = isDirectory(request.cwd) ? request.cwd : cwd
  const head = { id: runId, kind: 'scenario', title, argv: context.argv, cwd: here } as const
  const run = createRun(store, { ...head, agents, target, details: { queued: true } })
  run.writePlan({ request: { ...request, cwd: here }, identity, trials } as RunPlan)
  return collect(run, facts, context)
}

function* queuedTrials(
  prepared: PreparedRun,
  { labels, memoryMb }: QueueOptions,
  earlier: Parameters<typeof plannedTrials>[2],
): Generator<NewQueuedTrial> {
  const { trials, keyOf } = prepared
  for (const trial of trials) {
    const [planned] = plannedTrials(prepared, [trial], earlier)
    if (planned === undefined) continue
    const { id, provider, spec, earlierCostUsd, maxCostUsd } = planned
    yield {
      id,
      spec: JSON.stringify({ ...spec, key: keyOf(spec) }),
      group: `${provider}/${spec.model}`,
      need: { agent: spec.agent, labels, memoryMb, gantry: version },
      expectedUsd: earlierCostUsd ?? maxCostUsd ?? null,
    }
  }
}

/** How long to wait before asking again whether trials have ended. */
const pollMs = 500
const batch = 50
/** How often to ask why trials wait. */
const lookMs = 5_000

const notFollowed = { why: 'the run was not followed to its end', costUsd: 0 }

async function collect(
  run: LiveRun,
  {
    document: { title, request, isPairwise: wantsPairs },
    trials,
    redaction,
    prepared,
  }: {
    readonly document: QueuedDocument
    readonly trials: readonly ScenarioTrial[]
    readonly redaction: Redaction
    /** null: this machine did not submit the run, and may lack its judge. */
    readonly prepared: PreparedRun | null
  },
  context: QueueContext,
): Promise<RunResult> {
  const { queue, reporter, signal } = context
  const warn = (message: string): void => reporter.note?.({ level: 'warning', message })
  const started = monotonicMs()
  const concurrency = Math.max(1, sum((await queue.workers()).map(({ slots }) => slots)))
  const header = runHeader(run, { title, trials: trials.length, concurrency })
  reporter.runStarted?.(header)
  const tally = createTally({ request, trials }, prepared?.cases)
  const notRun = new Map<string, Pick<SettledTrial, 'why' | 'costUsd'>>()
  for (const { id } of trials) notRun.set(id, notFollowed)
  let judge: { readonly name: string } | null = null
  const take = (record: TrialRecord): void => {
    if (record.judge !== null) judge = { name: record.judge.model }
    notRun.delete(record.id)
    tally.add(record)
    // What is left is for the judge of pairs.
    const grant = prepared?.budget.reserve(0)
    if (grant?.kind === 'granted') grant.settle(record.costUsd)
    reporter.trialEnded?.(record)
  }
  try {
    for await (const record of run.trials()) take(record)
    const told = new Set<string>()
    let [after, lookAt, isStopped] = [0, 0, false]
    while (!signal.aborted) {
      const settled = await queue.results(run.id, after, batch)
      for (const result of settled) {
        after = result.no
        if (!notRun.has(result.trial)) continue
        if (result.lostUsd > 0)
          putAside(
            run,
            { id: result.trial, costUsd: result.lostUsd },
            'interrupted',
            context.store.clock.now(),
          )
        if (result.record === null) notRun.set(result.trial, { why: result.why, costUsd: result.costUsd })
        else take(await keep(run, result, queue))
      }
      if (settled.length > 0) continue
      const queued = await queue.run(run.id)
      if (queued === null || (queued.open === 0 && queued.settled <= after)) break
      if (!isStopped && request.maxTimeMs !== undefined && monotonicMs() - started > request.maxTimeMs) {
        isStopped = true
        await queue.stop(run.id, 'the time limit was reached')
      }
      if (monotonicMs() >= lookAt) {
        lookAt = monotonicMs() + lookMs
        for (const { why, count } of await whyWaiting(queue, run.id)) {
          if (!told.has(why)) warn(`${counted(count, 'trial')} cannot start: ${why}`)
          told.add(why)
        }
      }
      await sleep(pollMs, undefined, { signal }).catch(() => {})
    }
    if (prepared === null && wantsPairs) warn('only the submitter of the run compares its answers pairwise')
    return await finishRun({
      context,
      tally,
      preferences: prepared === null ? null : await judgePairs(prepared, context, run, tally.pairs),
      prepared: { request, redaction, judge, project: { root: request.cwd } },
      run,
      header,
      notRun: trials.flatMap((spec) => {
        const { why, costUsd } = notRun.get(spec.id) ?? {}
        if (costUsd === undefined) return []
        return [{ trial: { id: spec.id, title: spec.case, provider: '', spec }, costUsd, why: why ?? '' }]
      }),
      unjudgedUsd: 0,
      next: `${signal.aborted ? '' : `gantry queue retry ${run.id}, then `}gantry runs follow ${run.id}`,
      started,
    })
  } catch (error) {
    run.release()
    throw error
  }
}

/** The directory of the trial first, then its record: only a record finishes a trial. Without its files it is still paid for, so it counts. */
async function keep(run: LiveRun, settled: SettledTrial, queue: TrialQueue): Promise<TrialRecord> {
  const dir = run.trialDir(settled.trial)
  if (isDirectory(dir)) run.discardTrial(settled.trial)
  const parsed = { ...(parseJson(settled.record ?? '') as TrialRecord), dir }
  const missing = settled.archive === null ? null : await unpackBlob(settled, dir, queue)
  const record =
    missing === null
      ? parsed
      : { ...parsed, warnings: [...parsed.warnings, `its files are lost: ${missing}`] }
  makeDirectories(dir)
  run.finishTrial(record)
  return record
}
