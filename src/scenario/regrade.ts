import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { loadProject } from '../config/load.ts'
import { GantryError } from '../core/error.ts'
import type { GantryEvent } from '../core/event.ts'
import { expandValues } from '../core/expand.ts'
import { forEachLimited } from '../core/for-each-limited.ts'
import { asObject } from '../core/json-fields.ts'
import { createRedaction } from '../core/redaction.ts'
import type { Regrade } from '../core/regrade.ts'
import type { TrialRecord } from '../core/trial.ts'
import { gateNeeds } from '../gates/index.ts'
import { monotonicMs } from '../io/clock.ts'
import { copyTree } from '../io/copy-tree.ts'
import { readTextIfExists } from '../io/directory.ts'
import { removeTree, writeJsonAtomic } from '../io/files.ts'
import { openJsonl, readJsonl } from '../io/jsonl.ts'
import { isDirectory } from '../io/path-kind.ts'
import { parseYamlSource } from '../io/yaml-source.ts'
import type { Budget } from '../models/budget.ts'
import type { Model } from '../models/contract.ts'
import { regradeFile, storeComparisons } from '../report/finished-run.ts'
import type { LiveRun, Store, StoredRun } from '../store/contract.ts'
import { createRun } from '../store/create-run.ts'
import { findRun } from '../store/find-run.ts'
import type { AgentStage } from './agent-stage.ts'
import { armRounds } from './arm-rounds.ts'
import { writeArtefacts } from './artefacts.ts'
import { type Case, isPairwise } from './case.ts'
import { standIn } from './check.ts'
import { comparisonsOf, createTally, type RunResult } from './finish-run.ts'
import { storedPairs, workspaceOf } from './judged-pairs.ts'
import { judgeTrust } from './label-trials.ts'
import { loadScenarios } from './load-case.ts'
import { casesInput, configInput } from './open-live-run.ts'
import { readEnded } from './open-side.ts'
import { frozenRequest, type RunRequest } from './request.ts'
import { runTrial } from './trial.ts'
import { type CaseInputs, caseHashes, caseInputs } from './trial-key.ts'
import { type TrialPlace, trialPlace } from './trial-work.ts'

export interface RegradeOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly argv: readonly string[]
  /** Asks the judge again. Without it the earlier answers stay. */
  readonly judge?: { readonly model: Model; readonly budget: Budget }
}

/**
 * Grades the stored work of a run by the scenarios as they are now. No agent runs. The result is a new run that refers to the old one;
 * its `regrade.json` says what changed, and what could not be graded again.
 */
export async function regradeRun(
  store: Store,
  wanted: string,
  options: RegradeOptions,
): Promise<Omit<RunResult, 'interrupted'>> {
  const id = findRun(store, wanted, { kind: 'scenario' })
  const [old, records] = await readEnded(store, id, async (run) => {
    const found: TrialRecord[] = []
    for await (const record of run.trials()) found.push(record)
    return found
  })
  const request = frozenRequest(store, old.id)
  const grading = await openGrading(old, request, options)
  const run = createRun(store, {
    kind: 'scenario',
    title: `${old.manifest().title.replace(/, regraded$/, '')}, regraded`,
    argv: options.argv.map(grading.redaction.text),
    cwd: request.cwd,
    agents: old.manifest().versions.agents,
    target: old.manifest().versions.target,
    refers_to: [old.id],
    details: { regraded_from: old.id },
  })
  try {
    return await gradeAll({ store, old, run, request, grading }, records, options)
  } catch (error) {
    run.release()
    throw error
  }
}

type Grading = Awaited<ReturnType<typeof openGrading>>

async function openGrading(old: StoredRun, request: RunRequest, { env, judge }: RegradeOptions) {
  const { paths, cwd, configFile, targetBinary } = request
  const project = loadProject(cwd, configFile)
  const options = { project, cwd, env, ...(targetBinary !== undefined && { targetBinary }) }
  const { cases } = await loadScenarios(paths, {}, options)
  const redaction = createRedaction(
    project.config.redact,
    env,
    ...cases.map(({ target }) => expandValues(target.env, env)),
  )
  const config = redaction.text(project.source?.text ?? '')
  const inputs = old.inputs()
  const read = (path: string | undefined): string | null =>
    path === undefined ? null : readTextIfExists(path)
  const earlier = yamlIn(read(inputs.get(configInput)?.path) ?? config)
  const frozen = [...inputs.values()].map(({ path }) => withTarget(yamlIn(read(path) ?? ''), earlier))
  return {
    cases: new Map(cases.map((entry) => [entry.name, entry])),
    /** As the cases are graded now. */
    hashes: caseHashes(cases, judge === undefined ? request : { judge: true, judgeModel: judge.model.name }),
    /** What the scenarios asked when the run started. */
    frozen: new Map(frozen.map((value) => [String(fieldOf(value, 'name')), value])),
    /** Hashes of the cases, now and when the run started. */
    inputs: [caseInputs(cases), yamlIn(read(inputs.get(casesInput)?.path) ?? '')] as const,
    /** The text of gantry.yaml now. */
    config,
    redaction,
    /** The directory of the project. */
    root: project.root,
  }
}

interface Site {
  readonly store: Store
  readonly old: StoredRun
  readonly run: LiveRun
  readonly request: RunRequest
  readonly grading: Grading
}

async function gradeAll(site: Site, records: readonly TrialRecord[], options: RegradeOptions) {
  const { old, run, request, grading } = site
  for (const entry of grading.cases.values())
    run.freeze(entry.shownFile, grading.redaction.text(entry.source.text))
  run.freeze(configInput, grading.config)
  run.freeze(casesInput, JSON.stringify(grading.inputs[0]))
  const header = ({ id, case: name, agent, model, attempt }: TrialRecord) => ({
    id,
    case: name,
    agent,
    model,
    attempt,
  })
  const plan = { request, trials: records.map((record) => ({ ...header(record), key: null })) }
  run.writePlan(plan)
  const started = monotonicMs()
  const tally = createTally({ request, trials: records }, grading.cases, armRounds(request))
  const changed: Regrade['changed'][number][] = []
  const left: Regrade['left_out'][number][] = []
  let judgeUsd = 0
  await forEachLimited(request.concurrency, records, async (record) => {
    if (options.signal.aborted) throw new GantryError('INTERRUPTED', 'the regrading was interrupted')
    const graded = await gradeAgain(record, site, options)
    if (typeof graded === 'string') {
      left.push({ ...header(record), reason: graded })
      run.discardTrial(record.id)
      return
    }
    if (options.judge !== undefined) judgeUsd += graded.judge?.costUsd ?? 0
    run.finishTrial(graded)
    tally.add(graded)
    if (graded.verdict !== record.verdict)
      changed.push({ ...header(record), was: record.verdict, is: graded.verdict, reason: graded.reason })
  })
  const { seed } = request
  const preferences =
    options.judge === undefined
      ? await storedPairs(run, tally.compared, seed)
      : await tally.pairs.judge({
          ...site,
          ...grading,
          judge: options.judge.model,
          concurrency: request.concurrency,
          seed,
          signal: options.signal,
          note: () => {},
        })
  if (options.judge !== undefined) judgeUsd += preferences.costUsd
  for (const attempt of [...new Set(records.map((record) => record.attempt))].sort((a, b) => a - b))
    tally.rounds?.look(attempt)
  const ends = { run, tally, notRun: left, preferences, prepared: { request }, context: {} }
  const comparisons = await comparisonsOf(ends)
  if (comparisons.length > 0) storeComparisons(run, comparisons)
  const regrade: Regrade = {
    run_id: old.id,
    trials: records.length - left.length,
    changed: changed.sort(byId),
    left_out: left.sort(byId),
  }
  writeJsonAtomic(join(run.dir, regradeFile), regrade)
  const durationMs = Math.round(monotonicMs() - started)
  const judge = options.judge?.model.name ?? records.find((record) => record.judge !== null)?.judge?.model
  const result = tally.summary.finish({
    ...(judge !== undefined && { judge: await judgeTrust(site.store, judge, grading.root) }),
    durationMs,
    notRun: left.length,
    asideCostUsd: judgeUsd,
  })
  await run.end({ status: result.verdict, summary: result })
  const isComparison = request.arms.length > 0
  return { runId: run.id, runDir: run.dir, summary: result, comparisons, isComparison }
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1
}

/** The new record, or why the trial cannot be graded again. */
async function gradeAgain(
  record: TrialRecord,
  site: Site,
  { env, signal, judge }: RegradeOptions,
): Promise<TrialRecord | string> {
  const { old, run, grading, store } = site
  const entry = grading.cases.get(record.case)
  if (entry === undefined) return 'the scenario is gone'
  const stage = old.checkpointOf(record.id, 'agent') as AgentStage | undefined
  if (record.verdict === 'infra' && record.judgeError === undefined) return 'the agent could not work'
  if (stage?.kind !== 'ran') return 'the agent did not run'
  const changed = askedOtherwise(entry, grading)
  if (changed !== null) return `its ${changed} changed, so the agent's work answers another question`
  if (
    judge === undefined &&
    entry.rubric !== null &&
    record.judge !== null &&
    hasChanged('rubric', record.case, grading)
  )
    return 'its rubric changed, and the judge was not asked again: add --judge'
  const needsDelta = entry.scenario.evaluation.gates.some(({ type }) =>
    gateNeeds(type, entry.ownGates).includes('workspace_delta'),
  )
  if (needsDelta && stage.delta === null) return 'what the agent changed was not recorded for this gate'
  const from = await workspaceOf(record, store)
  if (from === null) return 'its workspace was removed'
  const place = trialPlace(run.openTrial(record.id))
  await takeOver(from, trialPlace(record.dir), place)
  const graded = await runTrial({
    planned: record,
    case: entry,
    agent: standIn(record.agent, 'true', place.dir),
    dir: place.dir,
    limits: { timeoutMs: 1 },
    judge:
      judge === undefined || isPairwise(entry)
        ? null
        : { model: judge.model, budget: () => judge.budget, keepsQuestion: false },
    prices: {},
    redaction: grading.redaction,
    env,
    modelLink: null,
    checkpoints: {
      read: (name) => (name === 'agent' ? stage : undefined),
      write: (name, value) => run.checkpoint(record.id, name, value),
    },
    withOracle: false,
    earlier: judge === undefined ? { judge: record.judge } : {},
    cacheKey: null,
    caseHash: grading.hashes.get(record.case),
    infraRetries: 0,
    clock: store.clock,
    signal,
  })
  run.checkpoint(record.id, 'agent', stage)
  if (
    judge === undefined &&
    entry.rubric !== null &&
    !isPairwise(entry) &&
    record.judge === null &&
    graded.verdict === 'pass'
  )
    return 'its gates pass now, and the judge was never asked: add --judge'
  const kept: TrialRecord = {
    ...graded,
    costUsd: record.costUsd,
    ...(record.usage !== undefined && { usage: record.usage }),
    cachedFrom: old.id,
  }
  writeArtefacts(kept, { case: entry, toolVersion: null, targetVersion: null, redaction: grading.redaction })
  return kept
}

/** What decides about the work of an agent. Everything else is about grading. */
const asked = ['task', 'setup', 'template_folder', 'target'] as const

function askedOtherwise({ name, source }: Case, grading: Grading): string | null {
  const { frozen, config, redaction } = grading
  const [then, now] = [frozen.get(name), withTarget(yamlIn(redaction.text(source.text)), yamlIn(config))]
  if (then === undefined) return null
  const differs = asked.find((key) => !isDeepStrictEqual(fieldOf(then, key), fieldOf(now, key)))
  if (differs !== undefined) return differs
  if (hasChanged('template', name, grading)) return 'template'
  const posts = [then, now].map((value) => fieldOf(fieldOf(value, 'scripts'), 'post'))
  return isDeepStrictEqual(posts[0], posts[1]) ? null : 'post scripts'
}

/** Runs of older versions kept no hashes. */
function hasChanged(what: keyof CaseInputs, name: string, { inputs: [now, then] }: Grading): boolean {
  const earlier = fieldOf(fieldOf(then, name), what)
  return earlier !== undefined && earlier !== now[name]?.[what]
}

/** A scenario with the target of gantry.yaml, if it uses that one. */
function withTarget(scenario: unknown, config: unknown): unknown {
  const isConfigured = fieldOf(scenario, 'target') === 'from_config'
  return isConfigured ? { ...asObject(scenario), target: fieldOf(config, 'target') } : scenario
}

function yamlIn(text: string): unknown {
  const source = parseYamlSource(text, 'scenario.yaml')
  return source.kind === 'parsed' ? source.value : null
}

function fieldOf(value: unknown, key: string): unknown {
  return asObject(value)?.[key]
}

/** The work of the agent, without what its graders said then. */
async function takeOver(work: TrialPlace, log: TrialPlace, to: TrialPlace): Promise<void> {
  await copyTree(work.fixture, to.fixture, { keepsOutside: true })
  if (isDirectory(work.home)) await copyTree(work.home, to.home, { keepsOutside: true })
  const paths = [log.transcript, log.diff, log.calls, log.pair]
  const names = new Set(paths.map((path) => path.slice(log.dir.length + 1)))
  await copyTree(log.dir, to.dir, { exclude: (path) => !names.has(path.split('/')[0] ?? '') })
  removeTree(to.events)
  const events = openJsonl(to.events)
  for await (const event of readJsonl<GantryEvent>(log.events))
    if (!['gate', 'evaluator', 'judge'].includes(event.event)) events.append(event)
  events.close()
}
