import { GantryError } from '../core/error.ts'
import { sha256 } from '../io/sha256.ts'
import type { Case } from './case.ts'
import type { Combination } from './matrix.ts'

/** One attempt that a run will make. */
export interface ScenarioTrial extends Combination {
  /** Name of the trial's directory, unique in the run. */
  readonly id: string
  readonly case: string
  /** From 1. */
  readonly attempt: number
}

export interface Shard {
  /** From 1. */
  readonly index: number
  readonly count: number
}

/** A plan is held in memory and frozen as one file. */
const maxTrials = 1_000_000

/**
 * Every trial of a run, in the order it is started: first all cases once, then all of them again, so that a run that is
 * cut short has seen as many cases as it could.
 */
export function planTrials(
  cases: readonly { readonly case: Case; readonly combinations: readonly Combination[] }[],
  { repeat, shard }: { readonly repeat: number; readonly shard?: Shard },
): ScenarioTrial[] {
  const count = repeat * cases.reduce((sum, { combinations }) => sum + combinations.length, 0)
  if (count > maxTrials) {
    throw new GantryError('USAGE', `${count} trials are too many for one run`, {
      hint: `The limit is ${maxTrials}: lower --repeat, or name fewer scenarios, agents or models.`,
    })
  }
  const all = Array.from({ length: repeat }, (_, index) => index + 1).flatMap((attempt) =>
    cases.flatMap((entry) =>
      entry.combinations.map(({ agent, model }) => ({ case: entry.case.name, agent, model, attempt })),
    ),
  )
  return all
    .map((trial, index) => ({ id: trialId(index, trial), ...trial }))
    .filter((_, index) => shard === undefined || index % shard.count === shard.index - 1)
}

/** `2/5`: the second of five parts. */
export function parseShard(text: string): Shard {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? []
  if (index === undefined || count === undefined || index < 1 || index > count) {
    throw new GantryError('USAGE', `--shard ${text} is no part of a whole`, {
      hint: 'Write i/n with 1 <= i <= n, for example 2/5.',
    })
  }
  return { index, count }
}

/** Where the cassette of a trial lies: by what it is, not by its place in the plan, which changes with every new scenario. */
export function cassetteWords({ case: name, agent, model, attempt }: Omit<ScenarioTrial, 'id'>): string[] {
  return [distinct(name), distinct(`${agent}-${model}`), String(attempt)]
}

/** Names that differ only in what a slug drops stay apart. */
function distinct(text: string): string {
  const word = slug(text).slice(0, 80)
  return word === text ? word : `${word}-${sha256(text).slice(0, 6)}`
}

function trialId(index: number, { case: name, agent, model, attempt }: Omit<ScenarioTrial, 'id'>): string {
  const words = [name, agent, model].map((word) => slug(word).slice(0, 40))
  return `${String(index + 1).padStart(4, '0')}-${words.join('-')}-${attempt}`
}

/** Safe in any file system, on any command line and in a URL. */
export function slug(text: string): string {
  return (
    text
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'x'
  )
}
