import { type ComparedSide, compareFacts, hintForNothing } from '../core/compare-facts.ts'
import type { Comparison } from '../core/comparison.ts'
import { GantryError } from '../core/error.ts'
import { groupOf } from '../report/case-verdict.ts'
import type { Store } from '../store/contract.ts'
import { openRun } from '../store/open-run.ts'
import { storedPairs } from './judged-pairs.ts'
import { openSide } from './open-side.ts'
import type { PreparedRun } from './prepare-run.ts'

/** Two sides as the user names them. Throws GantryError when they cannot be compared. */
export async function compareSides(
  store: Store,
  [a, b]: readonly [string, string],
  options: {
    readonly margin: number
    readonly seed: number
    /** `OLD=NEW`: an agent that has another name in B. */
    readonly map?: readonly string[]
    readonly cwd: string
  },
): Promise<Comparison> {
  const { margin, seed, map = [], cwd } = options
  const [before, after] = [await openSide(store, a, cwd), await openSide(store, b, cwd)]
  const renamed = renamedOf(map, before, after)
  const known = new Set(before.runId === after.runId ? before.facts.map(groupOf) : [])
  if (after.facts.some((facts) => known.has(groupOf(facts))))
    throw new GantryError('USAGE', `${a} and ${b} name the same results`, {
      hint: 'Name two runs, or two agents, arms or models of one: RUN:NAME.',
    })
  const comparison = compareFacts(before, after, { margin, seed, renamed })
  refuseNothing(comparison)
  const [one, other] = [before.facts[0], after.facts[0]]
  // A baseline file has no trials to look at.
  if (before.runId !== after.runId || one?.examples === undefined || other === undefined) return comparison
  const judged = await storedPairs(openRun(store, after.runId), [one.agent, other.agent], seed)
  return { ...comparison, preference: judged.preferenceOf(other.agent) }
}

export function refuseNothing(comparison: Comparison): void {
  const { pairs, before, after, left_out } = comparison
  if (pairs > 0) return
  const reasons = [...new Set(left_out.map(({ reason }) => reason))]
  throw new GantryError(
    'USAGE',
    `${before.name} and ${after.name} have nothing that can be compared: ${reasons.join('; ')}`,
    { hint: hintForNothing(comparison) },
  )
}

/** The run whose gates, scores and costs this one must not fall behind. Throws GantryError USAGE if it has none of the planned trials. */
export async function baselineOf(
  { request: { baseline, cwd }, planned }: Pick<PreparedRun, 'request' | 'planned'>,
  store: Store,
): Promise<ComparedSide | undefined> {
  if (baseline === undefined) return undefined
  const side = await openSide(store, baseline, cwd)
  const known = new Set(side.facts.map(groupOf))
  if (planned.some((trial) => known.has(groupOf(trial)))) return side
  throw new GantryError('USAGE', `${baseline} has no case, agent and model of this run`, {
    hint: 'Name a baseline of the same scenarios and agents. --against OTHER:NAME compares an agent of another name.',
  })
}

function renamedOf(
  pairs: readonly string[],
  before: ComparedSide,
  after: ComparedSide,
): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>()
  const agentsOf = ({ facts }: ComparedSide): string =>
    [...new Set(facts.map(({ agent }) => agent))].join(', ')
  const refuse = (pair: string, problem: string): GantryError =>
    new GantryError('USAGE', `--map ${pair} ${problem}`, {
      hint: `Write --map OLD=NEW. A has ${agentsOf(before)}; B has ${agentsOf(after)}.`,
    })
  for (const pair of pairs) {
    const [old = '', now = '', ...rest] = pair.split('=')
    if (old === '' || now === '' || rest.length > 0) throw refuse(pair, 'does not name two agents')
    for (const [side, name] of [[before, old] as const, [after, now] as const])
      if (!side.facts.some(({ agent }) => agent === name))
        throw refuse(pair, `names an agent that ${side.name} does not have`)
    if (renamed.has(old) || [...renamed.values()].includes(now)) throw refuse(pair, 'names an agent twice')
    renamed.set(old, now)
  }
  return renamed
}
