import { join } from 'node:path'
import { addCost } from '../core/add-cost.ts'
import { counted } from '../core/counted.ts'
import { forEachLimited } from '../core/for-each-limited.ts'
import type { Redaction } from '../core/redaction.ts'
import { type JudgedPair, type Preference, preferencesOf } from '../core/stats/preference.ts'
import type { TrialRecord } from '../core/trial.ts'
import { isCounted } from '../core/verdict.ts'
import { readJsonIfExists, writeJsonAtomic } from '../io/files.ts'
import { isDirectory } from '../io/path-kind.ts'
import { comparePair, type PairSample } from '../judge/compare-pair.ts'
import { type JudgeContext, type JudgeQuestion, pairPrompt } from '../judge/prompt.ts'
import type { PaidSample } from '../judge/take-samples.ts'
import type { Model } from '../models/contract.ts'
import type { LiveRun, Store, StoredRun } from '../store/contract.ts'
import { openRun } from '../store/open-run.ts'
import type { AgentStage } from './agent-stage.ts'
import { type Case, isPairwise } from './case.ts'
import { contextOf } from './judge-trial.ts'
import { type TrialPlace, trialPlace } from './trial-work.ts'

/** `pairwise.json` of the later trial: what the judge was asked, what it said, and who won. */
export interface StoredPair extends JudgedPair {
  /** The run that asked. */
  readonly run: string
  readonly model: string
  readonly agents: readonly [before: string, after: string]
  readonly trials: readonly [before: string, after: string]
  readonly costUsd: number | null
}

/** What only people read of it. */
export interface PairTranscript {
  readonly samples: readonly PairSample[]
  /** With the first answer as A; the other order exchanges them. */
  readonly question: JudgeQuestion
}

type PairedTrial = Pick<
  TrialRecord,
  'id' | 'case' | 'agent' | 'model' | 'attempt' | 'verdict' | 'dir' | 'cachedFrom' | 'cacheKey' | 'gates'
>

export interface JudgedPairs {
  /** Of the agent with the first one; null when no scenario asks for it. */
  preferenceOf(agent: string): Preference | null
  /** Unknown cost counts as none. */
  readonly costUsd: number
}

export interface PairsSite {
  readonly run: LiveRun
  readonly store: Store
  readonly cases: ReadonlyMap<string, Case>
  readonly redaction: Redaction
  readonly judge: Model
  readonly concurrency: number
  readonly seed: number
  readonly signal: AbortSignal
  note(message: string): void
}

/** Collects the trials of scenarios with a pairwise judge. `agents`: the first is what the others are compared with. */
export function createPairs(cases: ReadonlyMap<string, Case>, [first = '', ...others]: readonly string[]) {
  const trials: PairedTrial[] = []
  return {
    add: ({
      id,
      case: name,
      agent,
      model,
      attempt,
      verdict,
      dir,
      cachedFrom,
      cacheKey,
      gates,
    }: TrialRecord) => {
      if (isPairwise(cases.get(name)))
        trials.push({ id, case: name, agent, model, attempt, verdict, dir, cachedFrom, cacheKey, gates })
    },
    /** Asks about every pair that has no answer yet. An interruption ends it early. */
    judge: async (site: PairsSite): Promise<JudgedPairs> => {
      const all = pairUp(trials, first)
      const pairs: StoredPair[] = []
      const left: { readonly agent: string; readonly reason: string }[] = []
      let isRefused: string | null = null
      /** For pairs that have an answer in one order only. */
      let halvesUsd = 0
      const work = async ([before, after]: readonly [PairedTrial, PairedTrial]): Promise<void> => {
        const leave = (reason: string) => left.push({ agent: after.agent, reason })
        const entry = cases.get(after.case)
        const reason = whyNot(entry, before, after) ?? isRefused
        if (reason !== null || entry === undefined) return void leave(reason ?? '')
        const judged = await judgePair(entry, before, after, site)
        if (typeof judged === 'string') return void leave(judged)
        if ('orders' in judged) return void pairs.push(judged)
        halvesUsd += judged.costUsd ?? 0
        leave(judged.reason === 'over_budget' ? 'the budget does not allow it' : judged.message)
        // It would be refused for every other pair, too.
        if (judged.reason === 'auth') isRefused = judged.message
      }
      const asked = all.filter(([before, after]) => whyNot(cases.get(after.case), before, after) === null)
      if (asked.length > 0)
        site.note(`${site.judge.name} compares ${counted(asked.length, 'pair')} of answers`)
      await forEachLimited(site.concurrency, all, work).catch((error: unknown) => {
        if (!site.signal.aborted) throw error
      })
      const judged = judgedPairs(pairs, left, others, site)
      return { ...judged, costUsd: judged.costUsd + halvesUsd }
    },
  }
}

function pairUp(trials: readonly PairedTrial[], first: string): (readonly [PairedTrial, PairedTrial])[] {
  const places = Map.groupBy(trials, ({ case: name, attempt }) => JSON.stringify([name, attempt]))
  return [...places.values()].flatMap((group) => {
    const before = group.filter(({ agent }) => agent === first)
    return group.flatMap((after) => {
      if (after.agent === first) return []
      const isAlone = before.length === 1 && group.filter(({ agent }) => agent === after.agent).length === 1
      const partner = isAlone ? before[0] : before.find(({ model }) => model === after.model)
      return partner === undefined ? [] : [[partner, after] as const]
    })
  })
}

/** Like the judge that scores, it sees only work that passed its gates, unless the scenario says `always`. */
function whyNot(entry: Case | undefined, before: PairedTrial, after: PairedTrial): string | null {
  if (!isCounted(before.verdict) || !isCounted(after.verdict)) return 'a trial was infra or invalid'
  if (entry?.scenario.evaluation.judge?.always === true) return null
  return before.verdict === 'fail' || after.verdict === 'fail' ? 'a gate failed' : null
}

async function judgePair(entry: Case, before: PairedTrial, after: PairedTrial, site: PairsSite) {
  const { run, judge, redaction, signal } = site
  const contexts = [await answerOf(entry, before, site), await answerOf(entry, after, site)] as const
  const [one, other] = contexts
  if (typeof one === 'string') return one
  if (typeof other === 'string') return other
  const { rubric } = entry
  if (rubric === null) throw new Error('a pairwise judge needs a rubric')
  const answers = [one, other] as const
  const judged = await comparePair({
    model: judge,
    rubric: rubric.value,
    answers,
    samples: pairCalls(entry) / 2,
    signal,
    checkpoint: {
      load: (sample) => paidPair(run, after.id, sample),
      save: (sample, paid) =>
        run.checkpoint(after.id, checkpointName(sample), redaction.value({ ...paid, run: run.id })),
    },
  })
  if (judged.kind === 'unavailable') return judged
  const pair: StoredPair = {
    run: run.id,
    model: judge.name,
    case: after.case,
    agents: [before.agent, after.agent],
    trials: [before.id, after.id],
    orders: judged.orders,
    lengths: [lengthOf(one), lengthOf(other)],
    costUsd: judged.costUsd,
  }
  const transcript: PairTranscript = { samples: judged.samples, question: pairPrompt(rubric.value, answers) }
  writeJsonAtomic(trialPlace(after.dir).pair, redaction.value({ ...pair, ...transcript }))
  return pair
}

/** An answer to the same question in an earlier run, whose trial came from the cache, costs nothing. */
function paidPair(run: LiveRun, trialId: string, sample: number): PaidSample<PairSample> | undefined {
  const paid = run.checkpointOf(trialId, checkpointName(sample)) as
    | (PaidSample<PairSample> & { readonly run: string })
    | undefined
  return paid === undefined || paid.run === run.id ? paid : { ...paid, costUsd: 0 }
}

function checkpointName(sample: number): string {
  return `pair-${sample + 1}`
}

/** The work of a trial as the judge sees it: without the name of the arm, which is in the path of its directory. */
async function answerOf(
  entry: Case,
  trial: PairedTrial,
  { run, store, redaction }: PairsSite,
): Promise<JudgeContext | string> {
  const stage = run.checkpointOf(trial.id, 'agent') as AgentStage | undefined
  if (stage?.kind !== 'ran') return 'the work of an agent was not recorded'
  const from = await workspaceOf(trial, store)
  if (from === null) return 'a workspace was removed'
  const place = { transcript: trialPlace(trial.dir).transcript, fixture: from.fixture }
  const context = contextOf({ case: entry, redaction }, place, stage.outcome, stage.delta, trial.gates)
  const blind = (text: string): string =>
    [trial.dir, from.dir].reduce((rest, dir) => rest.replaceAll(dir, '/trial'), text)
  return {
    ...context,
    gates: context.gates.map((gate) => ({ ...gate, message: blind(gate.message) })),
    finalMessage: context.finalMessage === null ? null : blind(context.finalMessage),
    transcript: blind(context.transcript),
    files: context.files.map((file) => ({
      ...file,
      content: file.content === null ? null : blind(file.content),
    })),
  }
}

/** What the agent said and wrote, not how it got there. */
function lengthOf({ finalMessage, files }: JudgeContext): number {
  return files.reduce((sum, { content }) => sum + (content?.length ?? 0), finalMessage?.length ?? 0)
}

/** A trial from the cache has its workspace in the run that made it. */
export async function workspaceOf(
  { dir, cachedFrom, cacheKey }: Pick<TrialRecord, 'dir' | 'cachedFrom' | 'cacheKey'>,
  store: Store,
): Promise<TrialPlace | null> {
  const here = trialPlace(dir)
  if (isDirectory(here.fixture)) return here
  if (cachedFrom === null || !isDirectory(join(store.runsDir, cachedFrom))) return null
  for await (const made of openRun(store, cachedFrom).trials()) {
    if (made.cacheKey !== cacheKey || !isDirectory(trialPlace(made.dir).fixture)) continue
    return trialPlace(made.dir)
  }
  return null
}

function judgedPairs(
  pairs: readonly StoredPair[],
  left: readonly { readonly agent: string; readonly reason: string }[],
  agents: readonly string[],
  { judge, seed }: Pick<PairsSite, 'seed'> & { readonly judge: { readonly name: string } },
): JudgedPairs {
  const sides = agents.flatMap((agent) => {
    const mine = pairs.filter(({ agents: [, after] }) => after === agent)
    const reasons = Map.groupBy(left, (each) => (each.agent === agent ? each.reason : ''))
    const not_judged = [...reasons].flatMap(([reason, group]) =>
      reason === '' ? [] : [{ reason, pairs: group.length }],
    )
    const cost_usd = mine.map(({ costUsd }) => costUsd).reduce(addCost, 0)
    if (mine.length + not_judged.length === 0) return []
    const sorted = mine.toSorted((a, b) => (a.trials[1] < b.trials[1] ? -1 : 1))
    return [{ agent, pairs: sorted, about: { model: judge.name, cost_usd, not_judged } }]
  })
  const preferences = preferencesOf(sides, seed)
  return {
    preferenceOf: (wanted) => preferences[sides.findIndex(({ agent }) => agent === wanted)] ?? null,
    costUsd: sides.reduce((sum, { about }) => sum + (about.cost_usd ?? 0), 0),
  }
}

/** What the judge said about a pair whose later trial this is; null when it was not asked. */
export function storedPair(dir: string): StoredPair | null {
  const stored = readJsonIfExists(trialPlace(dir).pair) as (StoredPair & PairTranscript) | null | undefined
  if (!Array.isArray(stored?.orders) || !Array.isArray(stored.lengths)) return null
  const { samples: _, question: __, ...pair } = stored
  return pair
}

/** What earlier processes paid for pairs of this trial, in dollars. */
export function paidForPairs(run: LiveRun, trialId: string, entry: Case | undefined): number {
  return Array.from({ length: pairCalls(entry) }, (_, sample) => paidPair(run, trialId, sample)).reduce(
    (sum, paid) => sum + (paid?.costUsd ?? 0),
    0,
  )
}

/** Calls to the judge for each pair. */
export function pairCalls(entry: Case | undefined): number {
  return isPairwise(entry) ? 2 * (entry?.scenario.evaluation.judge?.samples ?? 1) : 0
}

/** The stored answers about agents of a run, each against the first. */
export async function storedPairs(
  run: StoredRun,
  [first = '', ...others]: readonly string[],
  seed: number,
): Promise<JudgedPairs> {
  const pairs: StoredPair[] = []
  for await (const { dir } of run.trials()) {
    const pair = storedPair(dir)
    if (pair?.agents[0] === first) pairs.push(pair)
    else if (pair?.agents[1] === first) pairs.push(turned(pair))
  }
  return judgedPairs(pairs, [], others, { judge: { name: pairs[0]?.model ?? '' }, seed })
}

function turned(pair: StoredPair): StoredPair {
  const other = { before: 'after', after: 'before', tie: 'tie' } as const
  const { agents, trials, orders, lengths } = pair
  return {
    ...pair,
    agents: [agents[1], agents[0]],
    trials: [trials[1], trials[0]],
    lengths: [lengths[1], lengths[0]],
    orders: [other[orders[1]], other[orders[0]]],
  }
}
