import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Verdict } from '../core/verdict.ts'
import { createArmRounds } from './arm-rounds.ts'

const cases = ['a', 'b', 'c', 'd', 'e', 'f']

/** Plays rounds until no trial is open, and returns the trials of each arm. */
function play(
  arms: readonly string[],
  verdictOf: (arm: string, name: string, attempt: number) => Verdict,
  repeat = 20,
) {
  const rounds = createArmRounds({ arms, margin: 0.05, repeat })
  const made = new Map<string, number>()
  for (let attempt = 1; attempt <= repeat; attempt += 1) {
    for (const name of cases)
      for (const agent of arms) {
        if (!rounds.isOpen({ case: name, agent, attempt })) continue
        made.set(agent, (made.get(agent) ?? 0) + 1)
        rounds.add({ case: name, agent, attempt, verdict: verdictOf(agent, name, attempt) })
      }
    rounds.look(attempt)
  }
  return { rounds, made }
}

test('a large difference ends after a few rounds, for all arms that have it', () => {
  const { rounds, made } = play(['base', 'good'], (arm) => (arm === 'good' ? 'pass' : 'fail'))
  expect(made.get('good')).toBeLessThanOrEqual(18)
  expect(made.get('base')).toBe(made.get('good'))
  expect(rounds.pairsOf('good').counts).toEqual({ wins: made.get('good'), losses: 0, ties: 0 })
})

test('an arm that is decided gets no further trials, while the others go on', () => {
  const { made, rounds } = play(['base', 'good', 'even'], (arm, name, attempt) => {
    if (arm === 'good') return 'pass'
    const isOdd = (attempt + (arm === 'even' ? cases.indexOf(name) : 0)) % 2 === 0
    return arm === 'even' && isOdd ? 'pass' : 'fail'
  })
  expect(made.get('good')).toBeLessThan(made.get('even') ?? 0)
  expect(made.get('base')).toBe(made.get('even'))
  expect(rounds.pairsOf('good').rounds).toBeLessThan(rounds.pairsOf('even').rounds)
})

test('nothing more is run when no streak could decide it before the last round', () => {
  const { made } = play(['base', 'other'], (arm, _, attempt) =>
    (arm === 'base') === (attempt % 2 === 0) ? 'pass' : 'fail',
  )
  // At most 20 rounds of 6 cases: with an even score half of them cannot be turned any more.
  expect(made.get('other')).toBeGreaterThan(12)
  expect(made.get('other')).toBeLessThan(120)
})

test('a broken case gets one trial, and a pair with an infra trial does not count', () => {
  const { made, rounds } = play(
    ['base', 'other'],
    (arm, name) => (name === 'a' ? 'invalid' : name === 'b' && arm === 'base' ? 'infra' : 'pass'),
    3,
  )
  const { wins, losses, ties } = rounds.pairsOf('other').counts
  expect([wins, losses]).toEqual([0, 0])
  expect(ties).toBe(4 * rounds.pairsOf('other').rounds)
  expect(made.get('base')).toBe(1 + 5 * rounds.pairsOf('other').rounds)
})

test('every trial that is made belongs to a whole round, and every arm has the trials of its rounds', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 240, maxLength: 240 }), (answers) => {
      const { rounds, made } = play(['x', 'y'], (arm, name, attempt) =>
        answers[(attempt - 1) * 12 + cases.indexOf(name) * 2 + (arm === 'x' ? 0 : 1)] === true
          ? 'pass'
          : 'fail',
      )
      const { counts, rounds: looked } = rounds.pairsOf('y')
      expect(made.get('x')).toBe(6 * looked)
      expect(counts.wins + counts.losses + counts.ties).toBe(6 * looked)
    }),
  )
})
