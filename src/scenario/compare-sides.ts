import { type ComparedSide, compareWithFirst } from '../core/compare-facts.ts'
import type { Comparison } from '../core/comparison.ts'
import { GantryError } from '../core/error.ts'
import { groupOf } from '../report/case-verdict.ts'
import type { Store } from '../store/contract.ts'
import { openRun } from '../store/open-run.ts'
import { storedPairs } from './judged-pairs.ts'
import { openRunSide, openSide } from './open-side.ts'
import type { PreparedRun } from './prepare-run.ts'

interface SidesOptions {
  readonly margin: number
  readonly seed: number
  /** `OLD=NEW`: an agent that has another name in the second side. */
  readonly map?: readonly string[]
  /** Where baseline files are; without it only runs can be named. */
  readonly cwd?: string
}

/** Sides as the user names them, each against the first. Throws GantryError when they cannot be compared. */
export async function compareSides(store: Store, names: readonly string[], options: SidesOptions) {
  const { margin, seed, map = [], cwd } = options
  const opened: ComparedSide[] = []
  for (const name of names)
    opened.push(await (cwd === undefined ? openRunSide(store, name) : openSide(store, name, cwd)))
  const { sides, comparisons } = compareWithFirst(opened, { margin, seed, renamed: renamedOf(map, opened) })
  const withPreference = async (comparison: Comparison, index: number): Promise<Comparison> => {
    const { before, after } = comparison
    const [one, other] = [opened[0]?.facts[0], opened[index + 1]?.facts[0]]
    // A baseline file has no trials to look at.
    if (before.run_id !== after.run_id || one?.examples === undefined || other === undefined)
      return comparison
    const judged = await storedPairs(openRun(store, after.run_id), [one.agent, other.agent], seed)
    return { ...comparison, preference: judged.preferenceOf(other.agent) }
  }
  return { sides, comparisons: await Promise.all(comparisons.map(withPreference)) }
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
  [before, after]: readonly ComparedSide[],
): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>()
  const agentsOf = (side: ComparedSide | undefined): string =>
    [...new Set(side?.facts.map(({ agent }) => agent))].join(', ')
  const refuse = (pair: string, problem: string): GantryError =>
    new GantryError('USAGE', `--map ${pair} ${problem}`, {
      hint: `Write --map OLD=NEW. A has ${agentsOf(before)}; B has ${agentsOf(after)}.`,
    })
  for (const pair of pairs) {
    const [old = '', now = '', ...rest] = pair.split('=')
    if (old === '' || now === '' || rest.length > 0) throw refuse(pair, 'does not name two agents')
    for (const [side, name] of [[before, old] as const, [after, now] as const])
      if (side?.facts.some(({ agent }) => agent === name) !== true)
        throw refuse(pair, `names an agent that ${side?.name} does not have`)
    if (renamed.has(old) || [...renamed.values()].includes(now)) throw refuse(pair, 'names an agent twice')
    renamed.set(old, now)
  }
  return renamed
}
