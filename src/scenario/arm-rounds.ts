import type { SequentialPairs } from '../core/compare-facts.ts'
import { decideEarly, type PairCounts } from '../core/stats/decide-early.ts'
import type { TrialRecord } from '../core/trial.ts'
import { isCounted, type Verdict } from '../core/verdict.ts'
import type { ScenarioTrial } from './plan.ts'
import type { RunRequest } from './request.ts'

type Pair = Pick<ScenarioTrial, 'case' | 'agent' | 'attempt'>

/** The arms of a run that is looked at after every round. */
export interface ArmRounds {
  add(record: Pick<TrialRecord, 'case' | 'agent' | 'attempt' | 'verdict'>): void
  /** Looks at the round of this attempt, when all its trials have ended. */
  look(attempt: number): void
  /** Whether a trial can still change an answer. */
  isOpen(trial: Pair): boolean
  /** The pairs of an arm with the first arm, until it was decided. */
  pairsOf(arm: string): SequentialPairs
}

interface ArmState {
  counts: PairCounts
  rounds: number
  isOpen: boolean
}

/**
 * Each arm is compared with the first one after every round of one attempt per case. An arm gets no further trials when it is decided, or
 * when not even a streak until the last round could decide it; a case gets none when it is broken.
 */
export function createArmRounds(options: {
  readonly arms: readonly string[]
  readonly margin: number
  readonly repeat: number
}): ArmRounds {
  const { margin, repeat } = options
  const [first = '', ...others] = options.arms
  const level = 0.05 / others.length
  const states = new Map<string, ArmState>(
    others.map((arm) => [arm, { counts: { wins: 0, losses: 0, ties: 0 }, rounds: 0, isOpen: true }]),
  )
  const verdicts = new Map<number, Map<string, Map<string, Verdict>>>()
  const broken = new Set<string>()
  const caseOf = (arm: string, name: string): string => JSON.stringify([arm, name])
  const isOpenFor = (arm: string, name: string): boolean =>
    states.get(arm)?.isOpen === true && !broken.has(caseOf(arm, name)) && !broken.has(caseOf(first, name))
  const isDecided = (counts: PairCounts): boolean =>
    decideEarly(counts, margin, level).verdict !== 'inconclusive'
  const count = (state: ArmState, arm: string, round: ReadonlyMap<string, Map<string, Verdict>>): number => {
    let open = 0
    for (const [name, answers] of round) {
      const [before, after] = [answers.get(first), answers.get(arm)]
      if (before === 'invalid') broken.add(caseOf(first, name))
      if (after === 'invalid') broken.add(caseOf(arm, name))
      if (isOpenFor(arm, name)) open += 1
      if (before === undefined || after === undefined || !isCounted(before) || !isCounted(after)) continue
      const key = before === after ? 'ties' : after === 'pass' ? 'wins' : 'losses'
      state.counts = { ...state.counts, [key]: state.counts[key] + 1 }
    }
    return open
  }
  return {
    add: ({ case: name, agent, attempt, verdict }) => {
      const round = verdicts.get(attempt) ?? new Map<string, Map<string, Verdict>>()
      verdicts.set(attempt, round)
      const answers = round.get(name) ?? new Map<string, Verdict>()
      round.set(name, answers.set(agent, verdict))
    },
    look: (attempt) => {
      const round = verdicts.get(attempt) ?? new Map<string, Map<string, Verdict>>()
      verdicts.delete(attempt)
      for (const [arm, state] of states) {
        if (!state.isOpen) continue
        const left = count(state, arm, round) * (repeat - attempt)
        state.rounds = attempt
        state.isOpen = !isDecided(state.counts) && streaks(state.counts, left).some(isDecided)
      }
    },
    isOpen: ({ case: name, agent }) =>
      agent === first ? others.some((arm) => isOpenFor(arm, name)) : isOpenFor(agent, name),
    pairsOf: (arm) => {
      const { counts, rounds } = states.get(arm) ?? { counts: { wins: 0, losses: 0, ties: 0 }, rounds: 0 }
      return { counts, rounds, level }
    },
  }
}

/** Of a run with --until-decided; null for any other. */
export function armRounds(request: RunRequest): ArmRounds | null {
  const isLookedAt = request.untilDecided && request.arms.length > 1 && request.only === undefined
  return isLookedAt ? createArmRounds(request) : null
}

/** The most extreme ends that are possible: only wins, only losses, and as even as it can get. */
function streaks({ wins, losses, ties }: PairCounts, left: number): readonly PairCounts[] {
  const behind = Math.min(left, Math.abs(wins - losses))
  return [
    { wins: wins + left, losses, ties },
    { wins, losses: losses + left, ties },
    {
      wins: wins + (wins < losses ? behind : 0),
      losses: losses + (losses < wins ? behind : 0),
      ties: ties + left - behind,
    },
  ]
}
