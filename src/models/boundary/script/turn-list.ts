import type { ScriptTurn } from './schema.ts'

/** A turn and the number by which its calls are told from those of other turns, from 1. */
export interface PickedTurn {
  readonly turn: ScriptTurn
  readonly number: number
}

/** Gives the turns of one list. `answers` is how many answers of the model are in the request. */
export interface TurnList {
  pick(answers: number): PickedTurn
}

export function createTurnList(turns: readonly ScriptTurn[], pick: 'index' | 'sequence'): TurnList {
  return pick === 'index' ? byIndex(turns) : bySequence(turns)
}

/**
 * The same request gets the same turn, however often it comes, but for errors: they stand before the answer they are
 * written in front of, and each is given as often as it says.
 */
function byIndex(turns: readonly ScriptTurn[]): TurnList {
  const steps = stepsOf(turns)
  const given = steps.map(() => 0)
  return {
    pick(answers) {
      const at = Math.min(answers, steps.length - 1)
      const turn = turnAt(steps[at] ?? [], given[at] ?? 0)
      if (turn.error !== undefined) given[at] = (given[at] ?? 0) + 1
      return { turn, number: answers + 1 }
    },
  }
}

function bySequence(turns: readonly ScriptTurn[]): TurnList {
  let calls = 0
  return {
    pick() {
      calls += 1
      return { turn: turnAt(turns, calls - 1), number: calls }
    },
  }
}

/** Cut behind every answer, since only an answer moves the index on. */
function stepsOf(turns: readonly ScriptTurn[]): ScriptTurn[][] {
  const steps: ScriptTurn[][] = [[]]
  for (const [index, turn] of turns.entries()) {
    steps.at(-1)?.push(turn)
    if (turn.error === undefined && index < turns.length - 1) steps.push([])
  }
  return steps
}

/** Which turn the call gets that comes after `earlier` others. The last one goes on without end. */
function turnAt(turns: readonly ScriptTurn[], earlier: number): ScriptTurn {
  let left = earlier
  for (const turn of turns.slice(0, -1)) {
    const times = turn.error?.times ?? 1
    if (left < times) return turn
    left -= times
  }
  const last = turns.at(-1)
  if (last === undefined) throw new RangeError('a list of turns is never empty')
  return last
}
