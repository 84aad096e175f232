import { relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFacts } from '../core/case-facts.ts'
import { createSummary } from '../core/create-summary.ts'
import { GantryError } from '../core/error.ts'
import { parseJson } from '../core/json-fields.ts'
import { createRedaction, type Redaction } from '../core/redaction.ts'
import type { TrialRecord } from '../core/trial.ts'
import { version } from '../core/version.ts'
import { monotonicMs } from '../io/clock.ts'
import { openRepository } from '../io/git-repository.ts'
import { packTree, unpackTree } from '../io/pack-tree.ts'
import { isDirectory } from '../io/path-kind.ts'
import { sha256 } from '../io/sha256.ts'
import type { LiveRun, RunPlan } from '../store/contract.ts'
import { createRun } from '../store/create-run.ts'
import { resumeRun } from '../store/resume-run.ts'
import type { NewQueuedTrial, SettledTrial, TrialQueue } from '../store/trial-queue/contract.ts'
import { createTraces, finishRun, type RunResult } from './finish-run.ts'
import { openLiveRun, type RunContext, titleOf } from './open-live-run.ts'
import { comparedAgents, type ScenarioTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'
import type { RunRequest } from './request.ts'
import { plannedTrials } from './scenario-trials.ts'

export interface QueueContext extends RunContext {
  readonly queue: TrialQueue
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** What a worker must have besides the agent. */
  readonly labels?: readonly string[]
}

/** What a worker and a follower need of a run, besides the files of the project. */
export interface QueuedDocument {
  readonly title: string
  /** Where the run was started, relative to the root of the project. */
  readonly place: string
  /** Relative to `place`. */
  readonly configFile: string | null
  readonly plan: {
    readonly request: RunRequest
    readonly identity: Readonly<Record<string, string>>
    readonly trials: readonly ScenarioTrial[]
  }
  readonly agents: Readonly<Record<string, string>>
  readonly target: string | null
}

/** Stores the run here and in the queue, waits for its trials, and ends it like a run of this machine. */
export async function runQueued(prepared: PreparedRun, context: QueueContext): Promise<RunResult> {
  const { queue } = context
  const { request, project, trials, identity } = prepared
  const bytes = await packProject(project.root)
  const run = await openLiveRun(prepared, context)
  let document: QueuedDocument
  try {
    const { agents, target } = run.manifest().versions
    document = {
      title: titleOf(prepared),
      place: relative(project.root, request.cwd),
      configFile:
        request.configFile === undefined
          ? null
          : relative(request.cwd, resolve(request.cwd, request.configFile)),
      plan: run.plan() as unknown as QueuedDocument['plan'],
      agents,
      target,
    }
    await queue.submit({
      id: run.id,
      planHash: sha256(JSON.stringify([identity, trials.map(({ id }) => id)])),
      document: JSON.stringify(document),
      project: await queue.put(bytes),
      capUsd: request.maxCostUsd ?? null,
      priority: 0,
      // The queue goes through them twice.
      trials: { [Symbol.iterator]: () => queuedTrials(prepared, context.labels ?? []) },
    })
  } catch (error) {
    // Nothing was enqueued, so nothing of it should be listed.
    run.discard()
    run.release()
    throw error
  }
  return collect(run, document, prepared.redaction, context)
}

/** Collects a run that was submitted by this or another machine, into the store of this one. */
export async function followRun(runId: string, context: QueueContext): Promise<RunResult> {
  const { queue, store, env, cwd } = context
  const queued = await queue.run(runId)
  if (queued === null)
    throw new GantryError('NOT_FOUND', `the queue has no run ${JSON.stringify(runId)}`, {
      hint: 'See "gantry queue status".',
    })
  const document = parseJson(queued.document) as QueuedDocument
  const redaction = createRedaction([], env)
  if (isDirectory(`${store.runsDir}/${runId}`))
    return collect(resumeRun(store, runId), document, redaction, context)
  const { title, plan, agents, target } = document
  const here = isDirectory(plan.request.cwd) ? plan.request.cwd : cwd
  const run = createRun(store, {
    id: runId,
    kind: 'scenario',
    title,
    argv: context.argv,
    cwd: here,
    agents,
    target,
  })
  run.writePlan({ ...plan, request: { ...plan.request, cwd: here } } as RunPlan)
  return collect(run, document, redaction, context)
}

/** The files that git knows or would add: what is ignored, such as packages and secrets, stays here. */
async function packProject(root: string): Promise<Buffer> {
  const repository = await openRepository(root)
  const ignored = new Set(['node_modules', '.git', '.env', 'cassettes.tmp'])
  if (repository === null) return packTree(root, (path) => ignored.has(path))
  const { stdout } = await repository.run(['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root })
  const files = stdout
    .toString('latin1')
    .split('\0')
    .filter((path) => path !== '')
  const wanted = new Set(files)
  for (const path of files)
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      wanted.add(path.slice(0, at))
  return packTree(root, (path) => !wanted.has(path))
}

function* queuedTrials(prepared: PreparedRun, labels: readonly string[]): Generator<NewQueuedTrial> {
  for (const { id, provider, spec } of plannedTrials(prepared, prepared.trials)) {
    const agent = prepared.agents.get(spec.agent)
    yield {
      id,
      spec: JSON.stringify(spec),
      group: `${provider}/${spec.model}`,
      need: {
        driver: agent?.driver.name ?? '',
        version: agent?.probe.version ?? null,
        agent: spec.agent,
        labels,
        gantry: version,
      },
    }
  }
}

/** How long to wait before asking again whether trials have ended. */
const pollMs = 500
const batch = 50

async function collect(
  run: LiveRun,
  { title, plan }: QueuedDocument,
  redaction: Redaction,
  context: QueueContext,
): Promise<RunResult> {
  const { queue, reporter, signal } = context
  const started = monotonicMs()
  const { request, trials } = plan
  const header = {
    runId: run.id,
    runDir: run.dir,
    title,
    trials: trials.length,
    concurrency: request.concurrency,
    startedAt: run.manifest().timestamp_start,
  }
  reporter.runStarted?.(header)
  const [summary, facts, traces] = [createSummary(request), createFacts(), createTraces()]
  const notRun = new Map(
    trials.map((spec) => [
      spec.id,
      { spec, why: 'nobody follows the run any more', costUsd: 0 as number | null },
    ]),
  )
  let judge: { readonly name: string } | null = null
  const take = (record: TrialRecord): void => {
    if (record.judge !== null) judge = { name: record.judge.model }
    notRun.delete(record.id)
    summary.add(record)
    facts.add(record)
    traces.add(record)
    reporter.trialEnded?.(record)
  }
  try {
    for await (const record of run.trials()) take(record)
    for (let after = 0; ; ) {
      await queue.expire()
      const settled = await queue.results(run.id, after, batch)
      for (const result of settled) {
        after = result.no
        const open = notRun.get(result.trial)
        if (open === undefined) continue
        if (result.record === null)
          notRun.set(result.trial, { ...open, why: result.why ?? '', costUsd: result.costUsd })
        else take(await keep(run, result, queue))
      }
      const queued = await queue.run(run.id)
      if (queued === null || queued.settled <= after || signal.aborted) {
        if (queued === null || signal.aborted || (await isSettled(queue, run.id, trials.length))) break
        await sleep(pollMs, undefined, { signal }).catch(() => {})
      }
    }
    return await finishRun({
      context,
      compared: comparedAgents({ request, trials }),
      // Answers are not compared pairwise on a queue yet.
      preferences: null,
      prepared: { request, redaction, judge, project: { root: request.cwd } },
      rounds: null,
      run,
      header,
      summary,
      facts: facts.finish(),
      traces: traces.finish(),
      notRun: [...notRun.values()].map(({ spec, why, costUsd }) => ({
        trial: { id: spec.id, title: spec.case, provider: '', spec },
        costUsd,
        why,
      })),
      unjudgedUsd: 0,
      started,
    })
  } catch (error) {
    run.release()
    throw error
  }
}

async function isSettled(queue: TrialQueue, runId: string, planned: number): Promise<boolean> {
  const counts = (await queue.counts()).filter(
    ({ run, state }) => run === runId && (state === 'done' || state === 'not_run'),
  )
  return counts.reduce((sum, { count }) => sum + count, 0) >= planned
}

/** The directory of the trial first, then its record: only a record finishes a trial. */
async function keep(run: LiveRun, result: SettledTrial, queue: TrialQueue): Promise<TrialRecord> {
  run.discardTrial(result.trial)
  const dir = run.trialDir(result.trial)
  if (result.archive !== null) unpackTree(await queue.get(result.archive), dir)
  const record = { ...(parseJson(result.record ?? '') as TrialRecord), dir }
  run.finishTrial(record)
  return record
}
