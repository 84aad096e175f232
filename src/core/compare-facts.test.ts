import { expect, test } from 'vitest'
import { type CaseFacts, createFacts, type FactsSource } from './case-facts.ts'
import { type ComparedSide, compareFacts, compareMany, hintForNothing } from './compare-facts.ts'

const facts = (name: string, passes: number, trials: number, more: Partial<CaseFacts> = {}): CaseFacts => ({
  case: name,
  agent: 'mine',
  model: 'default',
  caseHash: 'h',
  trials,
  passes,
  uncounted: 0,
  gates: [{ index: 0, type: 'file_exists', passes, trials }],
  meanScore: null,
  means: { cost_usd: 0.1, tokens: null, time_ms: 1_000, commands: 2, errors: 0 },
  examples: [
    { attempt: 1, passed: true, dir: `/t/${name}-passed` },
    { attempt: 1, passed: false, dir: `/t/${name}-failed` },
  ],
  ...more,
})
const side = (name: string, ...of: readonly CaseFacts[]): ComparedSide => ({
  name,
  runId: `run_${name}`,
  facts: of,
})
const options = { margin: 0.05, seed: 1 }
const many = (name: string, passes: number, more: Partial<CaseFacts> = {}): ComparedSide =>
  side(name, ...Array.from({ length: 10 }, (_, index) => facts(`c${index}`, passes, 4, more)))

test('ten cases that all got worse are worse, the changed ones with gate and trials', () => {
  const found = compareFacts(many('a', 4), many('b', 1), options)
  expect(found).toMatchObject({ verdict: 'worse', pairs: 10, unit: 'cases', difference: { value: -0.75 } })
  expect(found.p).toBeLessThan(0.01)
  expect(found.cases[0]).toMatchObject({
    before: { passes: 4, trials: 4, trial: '/t/c0-passed' },
    after: { passes: 1, trials: 4, trial: '/t/c0-failed' },
    gate: 'gate 1 (file_exists): 4/4 in A, 1/4 in B',
  })
  expect(found.regressions.length).toBe(10)
  expect(found.needed_trials_per_case).toBeNull()
})

test('a renamed agent is paired by --map, a chosen one by the case alone', () => {
  const old = many('a', 4, { agent: 'old' })
  const now = many('b', 4, { agent: 'new' })
  expect(compareFacts(old, now, options).pairs).toBe(0)
  expect(compareFacts(old, now, { ...options, renamed: new Map([['old', 'new']]) }).pairs).toBe(10)
  expect(compareFacts({ ...old, isChosen: true }, now, options).pairs).toBe(10)
})

test('a changed model of one agent is compared, several models each with itself', () => {
  const small = many('b', 2, { model: 'small' })
  expect(compareFacts(many('a', 4, { model: 'large' }), small, options).pairs).toBe(10)
  const two = side('b', facts('c0', 4, 4, { model: 'small' }), facts('c0', 4, 4, { model: 'large' }))
  const found = compareFacts(many('a', 4, { model: 'large' }), two, options)
  expect(found.pairs).toBe(1)
  expect(found.left_out).toContainEqual({ case: 'c0', agent: 'mine', model: 'small', reason: 'only in b' })
})

test('what cannot be compared is left out, with the reason', () => {
  const before = side(
    'a',
    facts('same', 1, 1),
    facts('changed', 1, 1),
    facts('gone', 1, 1),
    facts('infra', 0, 0, { uncounted: 3 }),
  )
  const after = side(
    'b',
    facts('same', 1, 1, { uncounted: 2 }),
    facts('changed', 1, 1, { caseHash: 'other' }),
    facts('new', 1, 1),
    facts('infra', 1, 1),
  )
  const found = compareFacts(before, after, options)
  expect(found.pairs).toBe(1)
  expect(Object.fromEntries(found.left_out.map((one) => [one.case, one.reason]))).toEqual({
    same: 'infra or invalid trials, 0 of A and 2 of B; its other trials are compared',
    changed: 'the scenario, its template, its graders or its judge changed in between',
    new: 'only in b',
    infra: 'no counted trial in a',
    gone: 'only in a',
  })
})

test('agents of one case are one case, and costs are ratios', () => {
  const two = (name: string, cost: number): ComparedSide =>
    side(
      name,
      ...Array.from({ length: 8 }, (_, index) =>
        ['x', 'y'].map((agent) =>
          facts(`c${index}`, 2, 2, { agent, means: { ...facts('', 0, 1).means, cost_usd: cost } }),
        ),
      ).flat(),
    )
  const found = compareFacts(two('a', 0.1), two('b', 0.2), options)
  expect(found).toMatchObject({
    pairs: 8,
    verdict: 'inconclusive',
    metrics: { cost_usd: { ratio: 2 }, tokens: null },
  })
  expect(found.cases).toHaveLength(16)
  // Eight cases that never change: more trials would show that these are the same.
  expect(found.needed_trials_per_case).toBe(10)
})

test('a chosen model is compared agent by agent, and a chosen agent with itself', () => {
  const both = (name: string, model: string): ComparedSide => ({
    ...side(
      name,
      ...Array.from({ length: 12 }, (_, index) => [
        facts(`c${index}`, 9, 10, { agent: 'claude', model }),
        facts(`c${index}`, 1, 10, { agent: 'codex', model }),
      ]).flat(),
    ),
    isChosen: true,
  })
  expect(compareFacts(both('a', 'sonnet'), both('b', 'opus'), options).difference.value).toBe(0)
  const claude = { ...many('b', 4, { agent: 'claude' }), isChosen: true }
  const earlier = side(
    'a',
    ...many('', 4, { agent: 'claude' }).facts,
    ...many('', 0, { agent: 'codex' }).facts,
  )
  const found = compareFacts(earlier, claude, options)
  expect(found).toMatchObject({ pairs: 10, difference: { value: 0 } })
  expect(found.left_out).toHaveLength(10)
})

test('agents with unequal numbers of trials count the same, whatever the numbers', () => {
  const one = (x: readonly [number, number], y: readonly [number, number]): readonly CaseFacts[] => [
    facts('c', ...x, { agent: 'x' }),
    facts('c', ...y, { agent: 'y' }),
  ]
  const found = compareFacts(side('a', ...one([20, 20], [0, 4])), side('b', ...one([4, 4], [0, 20])), options)
  expect(found).toMatchObject({ verdict: 'inconclusive', difference: { value: 0 } })
})

test.each(['constructor', 'toString', '__proto__'])('an agent may be called %s', (agent) => {
  expect(compareFacts(many('a', 4, { agent }), many('b', 4, { agent }), options).pairs).toBe(10)
})

test('several sides are judged by Holm, and no interval contradicts its p', () => {
  const some = (name: string, better: number): ComparedSide =>
    side(name, ...Array.from({ length: 10 }, (_, index) => facts(`c${index}`, index < better ? 4 : 2, 4)))
  const before = many('a', 2)
  const others = [6, 6, 0].map((better, index) => ({ before, after: some(`b${index}`, better), options }))
  const alone = compareFacts(before, some('b', 6), options)
  expect(alone).toMatchObject({ verdict: 'better', rounds: null })
  const found = compareMany(others)
  expect(found.map(({ verdict }) => verdict)).toEqual(['inconclusive', 'inconclusive', 'inconclusive'])
  expect(found[0]?.p).toBeCloseTo(3 * alone.p, 5)
  expect(found[0]?.difference.low).toBe(0)
  expect(found[0]?.needed_trials_per_case).toBeGreaterThan(0)
  expect(compareMany(others.slice(0, 1))).toEqual([compareFacts(before, some('b0', 6), options)])
})

test('sides that were looked at after every round have the interval of the pairs', () => {
  const sequential = { counts: { wins: 30, losses: 0, ties: 10 }, rounds: 4, level: 0.05 }
  const found = compareFacts(many('a', 1), many('b', 4), { ...options, sequential })
  expect(found).toMatchObject({ verdict: 'better', rounds: 4, unit: 'trials', difference: { value: 0.75 } })
  expect(found.p).toBeLessThan(0.001)
})

test('arms that share the error of the looks are not adjusted again, and p fits to their interval', () => {
  const side2 = (wins: number) => ({
    before: many('a', 1),
    after: many('b', 1),
    options: { ...options, sequential: { counts: { wins, losses: 0, ties: 5 }, rounds: 4, level: 0.025 } },
  })
  for (let wins = 5; wins < 20; wins += 1) {
    const [one, two] = compareMany([side2(wins), side2(wins)])
    expect(one).toEqual(two)
    expect((one?.difference.low ?? 0) > 0).toBe((one?.p ?? 1) <= 0.05)
    expect(one).toEqual(compareMany([side2(wins)])[0])
  }
})

test('further rounds that would decide are counted by the test that looks after every round', () => {
  const needed = (rounds: number, wins: number) =>
    compareFacts(many('a', 1), many('b', 1), {
      ...options,
      sequential: { counts: { wins, losses: 0, ties: 10 * rounds - wins }, rounds, level: 0.05 },
    }).needed_trials_per_case
  const more = needed(4, 4) ?? 0
  expect(more).toBeGreaterThan(0)
  expect(needed(4 + more, 4 + more)).toBeNull()
  expect(needed(3 + more, 3 + more)).toBe(1)
  expect(needed(0, 0)).toBeNull()
})

/** A side whose trials are folded from records, one letter per attempt: `p` passed, `f` failed; copies name the run that made them. */
function folded(runId: string, attempts: string, more: Partial<FactsSource> = {}): ComparedSide {
  const fold = createFacts()
  for (let index = 0; index < 8; index += 1)
    for (const [at, letter] of [...attempts].entries())
      fold.add({
        ...{ case: `c${index}`, agent: 'mine', model: 'default', caseHash: 'h', gates: [], score: null },
        ...{ costUsd: 0.1, attempt: at + 1, verdict: letter === 'p' ? 'pass' : 'fail' },
        dir: `/${runId}/${at + 1}`,
        ...more,
      })
  return { name: runId, runId, facts: fold.finish() }
}
test('a copy of a trial of the other side is left out, whichever side has it, and says so', () => {
  const old = folded('old', 'pf')
  const copy = folded('new', 'pf', { cachedFrom: 'old' })
  const found = compareFacts(old, copy, options)
  expect(found.pairs).toBe(0)
  expect(new Set(found.left_out.map(({ reason }) => reason))).toEqual(
    new Set(['both sides have the same trials, from the cache or graded again']),
  )
  expect(hintForNothing(found)).toContain('--no-cache')
  expect(compareFacts(copy, old, options).pairs).toBe(0)
  const another = folded('newer', 'pf', { cachedFrom: 'old' })
  expect(compareFacts(another, copy, options).pairs).toBe(0)
  // Trials of an agent that the other side does not have are copies of none of its trials.
  const other = folded('new', 'pf', { cachedFrom: 'old', agent: 'other' })
  expect(compareFacts({ ...old, isChosen: true }, other, options).pairs).toBe(8)
})

test('a trial that both sides took from a third run is left out of both', () => {
  const made = (runId: string): ComparedSide => {
    const fold = createFacts()
    for (let index = 0; index < 8; index += 1)
      for (const [attempt, cachedFrom, verdict] of [
        [1, 'first', 'fail'],
        [2, null, 'pass'],
      ] as const)
        fold.add({
          ...{ case: `c${index}`, agent: 'mine', model: 'default', caseHash: 'h', gates: [], score: null },
          ...{ attempt, cachedFrom, verdict, costUsd: 1 },
        })
    return { name: runId, runId, facts: fold.finish() }
  }
  const found = compareFacts(made('one'), made('two'), options)
  expect(found).toMatchObject({
    difference: { value: 0 },
    cases: { 0: { before: { passes: 1, trials: 1 } } },
  })
  expect(found.left_out[0]?.reason).toBe('1 trial of both sides; its other trials are compared')
})

test('besides copies the other trials are compared, with their own rates and costs', () => {
  const fold = createFacts()
  for (const [attempt, cachedFrom, verdict, costUsd] of [
    [1, 'old', 'pass', 1],
    [2, 'other', 'fail', 3],
    [3, null, 'fail', 5],
  ] as const)
    fold.add({
      ...{ case: 'c0', agent: 'mine', model: 'default', caseHash: 'h', gates: [], score: null },
      ...{ attempt, cachedFrom, verdict, costUsd },
    })
  const found = compareFacts(folded('old', 'p'), { ...side('new'), facts: fold.finish() }, options)
  expect(found.cases).toMatchObject([{ case: 'c0', after: { passes: 0, trials: 2 } }])
  expect(found.metrics.cost_usd?.ratio).toBe(40)
  expect(found.left_out[0]).toMatchObject({
    case: 'c0',
    reason: '1 trial of both sides; its other trials are compared',
  })
  expect(found.doubts).toMatchObject([expect.stringContaining('1 trial of new came from the cache')])
})

test('results from the cache were seen before; work that was graded again, and looks after every round, need no warning', () => {
  const old = folded('old', 'pf')
  const cached = folded('new', 'pp', { cachedFrom: 'between' })
  const { doubts } = compareFacts(old, cached, options)
  expect(doubts).toEqual([
    expect.stringMatching(/^16 trials of new .* seen before.*--until-decided.*--no-cache/),
  ])
  expect(compareFacts(old, { ...cached, isRegraded: true }, options).doubts).toEqual([])
  const sequential = { counts: { wins: 3, losses: 0, ties: 5 }, rounds: 2, level: 0.05 }
  expect(compareFacts(old, cached, { ...options, sequential }).doubts).toEqual([])
})

test('cases without a hash are compared with a warning', () => {
  const { pairs, doubts } = compareFacts(many('a', 4, { caseHash: null }), many('b', 4), options)
  expect(pairs).toBe(10)
  expect(doubts).toEqual([
    'a was made by an older version that kept no hash of its cases: whether the cases changed is unknown',
  ])
})

test('the trials to look at are of one attempt', () => {
  const found = compareFacts(folded('a', 'fpp'), folded('b', 'fpf'), options)
  expect(found.cases[0]).toMatchObject({ before: { trial: '/a/3' }, after: { trial: '/b/3' } })
  const apart = compareFacts(folded('a', 'pf'), folded('b', 'ff'), options)
  expect(apart.cases[0]).toMatchObject({ before: { trial: '/a/1' }, after: { trial: '/b/1' } })
})

test.each<[string, ComparedSide, ComparedSide, string]>([
  ['a changed case', many('a', 1), many('b', 1, { caseHash: 'other' }), 'gantry runs regrade'],
  ['no counted trial', many('a', 1), many('b', 0, { trials: 0 }), 'infra or invalid'],
  ['other cases', side('a', facts('x', 1, 1)), side('b', facts('y', 1, 1)), 'no case in common'],
  ['other agents', many('a', 1), many('b', 1, { agent: 'new' }), '--map OLD=NEW'],
  [
    'other models',
    side('a', facts('x', 1, 1, { model: 'm1' }), facts('x', 1, 1, { model: 'm2' })),
    side('b', facts('x', 1, 1, { model: 'm3' })),
    'RUN:MODEL',
  ],
  [
    'other agents of gantry test',
    many('base.json', 1, { agent: 'other' }),
    many('this run', 1),
    '--against base.json:other',
  ],
])('what can be done about %s', (_what, before, after, hint) => {
  const found = compareFacts(before, after, options)
  expect(found.pairs).toBe(0)
  expect(hintForNothing(found)).toContain(hint)
  if (!hint.includes('--map')) expect(hintForNothing(found)).not.toContain('--map')
})
