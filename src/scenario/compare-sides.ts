import type { CaseFacts } from '../core/case-facts.ts'
import { type ComparedSide, compareFacts } from '../core/compare-facts.ts'
import type { Comparison } from '../core/comparison.ts'
import { GantryError } from '../core/error.ts'
import type { Store } from '../store/contract.ts'
import { openRun } from '../store/open-run.ts'
import { storedPairs } from './judged-pairs.ts'
import { openSide } from './open-side.ts'

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
  const keyOf = (facts: CaseFacts): string => JSON.stringify([facts.case, facts.agent, facts.model])
  const known = new Set(before.runId === after.runId ? before.facts.map(keyOf) : [])
  if (after.facts.some((facts) => known.has(keyOf(facts))))
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

export function refuseNothing({ pairs, before, after, left_out }: Comparison): void {
  if (pairs > 0) return
  const byReason = Map.groupBy(left_out, ({ reason }) => reason)
  const [one = [], other = []] = byReason.values()
  const known = new Set(one.map((each) => each.case))
  const isOtherSuite = byReason.size === 2 && !other.some((each) => known.has(each.case))
  throw new GantryError(
    'USAGE',
    `${before.name} and ${after.name} have nothing that can be compared: ${[...byReason.keys()].join('; ')}`,
    {
      hint: isOtherSuite
        ? 'They have no case in common: name runs of the same scenarios.'
        : 'Agents of other names are paired with --map OLD=NEW, or by naming one of each: RUN:NAME.',
    },
  )
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
