import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSummary, runVerdict } from './create-summary.ts'
import type { RunSummary, RunVerdict } from './summary.ts'
import type { InteractionMetrics, TrialRecord } from './trial.ts'
import { type Verdict, verdicts } from './verdict.ts'

const metrics: InteractionMetrics = {
  total_commands: 4,
  unique_commands: 4,
  error_count: 1,
  error_rate: 0.25,
  retry_count: 0,
  retry_rate: 0,
  help_invocations: 1,
  first_try_success_rate: 0.75,
  iteration_ratio: 1,
  completed: true,
  source: 'events',
  subcommands: {},
}

const trial = (change: Partial<TrialRecord> = {}): TrialRecord => ({
  id: 't',
  case: 'capture',
  file: 'capture.yaml',
  agent: 'mine',
  model: 'default',
  attempt: 1,
  verdict: 'pass',
  reason: '',
  gates: [],
  metrics,
  judge: null,
  evaluators: [],
  score: 0.8,
  tier: 'Good',
  costUsd: 0.01,
  tokens: null,
  durationMs: 100,
  ending: 'exited',
  agentExitCode: 0,
  dir: '/runs/t',
  tags: [],
  infraRetries: 0,
  cachedFrom: null,
  cacheKey: null,
  startedAt: '2026-01-01T00:00:00Z',
  warnings: [],
  ...change,
})

const summarize = (records: Iterable<TrialRecord>, notRun = 0): RunSummary => {
  const fold = createSummary()
  for (const record of records) fold.add(record)
  return fold.finish({ durationMs: 1, notRun })
}

const trials = (...list: Verdict[]): TrialRecord[] => list.map((verdict) => trial({ verdict }))

test('infra and invalid are counted but not part of any rate', () => {
  const summary = summarize(trials('pass', 'pass', 'fail', 'infra', 'invalid'))
  expect(summary.counts).toEqual({ pass: 2, fail: 1, infra: 1, invalid: 1 })
  expect(summary.infraRate).toBe(0.2)
  expect(summary.passRate).toMatchObject({ value: 2 / 3, n: 3 })
  expect(summary.cases[0]?.passRate).toMatchObject({ value: 2 / 3, n: 3 })
})

test('a case has its interval, both families of estimates, and whether it is flaky', () => {
  const [summary] = summarize(trials(...Array<Verdict>(9).fill('pass'), 'fail')).cases
  expect(summary?.passHatK[2]).toBeCloseTo(0.7, 12)
  expect(summary?.passAtK.slice(0, 2)).toEqual([0.9, 1])
  expect(summary?.passHatK).toHaveLength(10)
  expect(summary?.flaky).toBe(true)
  expect(Math.round((summary?.passRate.low ?? 0) * 100)).toBe(55)
})

test('estimates stop at the number of trials and at ten', () => {
  expect(summarize(trials('pass', 'fail')).cases[0]?.passAtK).toHaveLength(2)
  expect(summarize(trials(...Array<Verdict>(40).fill('pass'))).cases[0]?.passHatK).toHaveLength(10)
  expect(summarize(trials('infra')).cases[0]?.passAtK).toEqual([])
})

test('the flake rate uses only cases with two or more counted trials', () => {
  const named = (name: string, ...list: Verdict[]): TrialRecord[] =>
    list.map((verdict) => trial({ case: name, verdict }))
  expect(summarize(named('a', 'pass')).flakeRate).toBeNull()
  expect(
    summarize([...named('a', 'pass', 'fail'), ...named('b', 'pass', 'pass'), ...named('c', 'fail')])
      .flakeRate,
  ).toBe(0.5)
  expect(summarize(named('a', 'pass', 'infra')).flakeRate).toBeNull()
})

test('cases have equal weight in the suite, and agents and models in a case', () => {
  const records = [
    ...Array.from({ length: 8 }, () => trial({ case: 'a' })),
    trial({ case: 'b', verdict: 'fail' }),
    trial({ case: 'b', verdict: 'fail', agent: 'other' }),
  ]
  const summary = summarize(records)
  expect(summary.passRate).toMatchObject({ value: 0.5, n: 10 })
  expect(summary.cases.map((one) => [one.case, one.agent])).toEqual([
    ['a', 'mine'],
    ['b', 'mine'],
    ['b', 'other'],
  ])
})

test('the cost excludes cached trials, and unmetered trials are counted', () => {
  const summary = summarize([
    trial(),
    trial({ verdict: 'infra', costUsd: 0.02 }),
    trial({ costUsd: null }),
    trial({ cachedFrom: 'run_1', costUsd: 5 }),
  ])
  expect(summary).toMatchObject({ costUsd: 0.03, unmeteredTrials: 1, cached: 1 })
  expect(summary.cases[0]?.meanCostUsd).toBeCloseTo(2.505, 9)
  expect(summarize([trial({ costUsd: null })])).toMatchObject({ costUsd: null, unmeteredTrials: 1 })
  expect(summarize([trial({ cachedFrom: 'run_1' })]).costUsd).toBe(0)
})

test('means exclude unmeasured values', () => {
  const unseen = { ...metrics, total_commands: 0, first_try_success_rate: 0, source: 'none' } as const
  const [summary] = summarize([
    trial(),
    trial({ score: null, metrics: unseen }),
    trial({ verdict: 'infra', score: 0, durationMs: 9e9 }),
  ]).cases
  expect(summary).toMatchObject({ meanScore: 0.8, meanDurationMs: 100 })
  expect(summary?.metrics).toEqual({
    commands: 4,
    errorRate: 0.25,
    firstTrySuccessRate: 0.75,
    helpInvocations: 1,
  })
})

test('a trial that never called the tool lowers the number of commands but no rate', () => {
  const unused = { ...metrics, total_commands: 0, error_rate: 0, first_try_success_rate: 0 }
  const [summary] = summarize([trial(), trial({ metrics: unused })]).cases
  expect(summary?.metrics).toMatchObject({ commands: 2, errorRate: 0.25, firstTrySuccessRate: 0.75 })
})

test('infra retries and trials not run are reported', () => {
  const summary = summarize([trial({ infraRetries: 2 }), trial({ infraRetries: 1 })], 7)
  expect(summary).toMatchObject({ infraRetries: 3, notRun: 7, verdict: 'partial' })
})

test('an empty run has unknown rates', () => {
  expect(summarize([])).toMatchObject({
    verdict: 'inconclusive',
    trials: 0,
    infraRate: 0,
    costUsd: null,
    cases: [],
  })
})

test('names that are equal only when joined stay separate', () => {
  const summary = summarize([trial({ case: 'a","b', agent: 'c' }), trial({ case: 'a', agent: 'b","c' })])
  expect(summary.cases).toHaveLength(2)
})

test('the order in which trials end changes nothing, and the counts always add up', () => {
  const record = fc.record({
    case: fc.constantFrom('a', 'b', 'c'),
    agent: fc.constantFrom('x', 'y'),
    verdict: fc.constantFrom(...verdicts),
    costUsd: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(record, { maxLength: 40 }), fc.infiniteStream(fc.nat()), (changes, order) => {
      const records = changes.map((change) => trial(change))
      const keyed = records.map((one) => ({ one, key: order.next().value ?? 0 }))
      const shuffled = keyed.sort((a, b) => a.key - b.key).map(({ one }) => one)
      const summary = summarize(records)
      expect(summarize(shuffled)).toEqual(summary)
      const { pass, fail, infra, invalid } = summary.counts
      expect(pass + fail + infra + invalid).toBe(records.length)
      expect(summary.passRate.n).toBe(pass + fail)
    }),
    { numRuns: 40 },
  )
})

test('five thousand trials are summarized at once, as one case or as many', () => {
  const many = Array.from({ length: 5_000 }, (_, index) =>
    trial({ verdict: index % 3 === 0 ? 'fail' : 'pass' }),
  )
  expect(summarize(many).cases).toHaveLength(1)
  expect(summarize(many.map((one, index) => ({ ...one, case: `case ${index}` }))).cases).toHaveLength(5_000)
})

test('a summary can be taken while trials still come in', () => {
  const fold = createSummary()
  fold.add(trial())
  expect(fold.finish({ durationMs: 1 }).trials).toBe(1)
  fold.add(trial({ verdict: 'fail' }))
  expect(fold.finish({ durationMs: 2 })).toMatchObject({ trials: 2, verdict: 'fail' })
})

const rows: [
  string,
  { pass?: number; fail?: number; infra?: number; invalid?: number; notRun?: number },
  RunVerdict,
][] = [
  ['all passed', { pass: 3 }, 'pass'],
  ['one failed', { pass: 99, fail: 1 }, 'fail'],
  ['infra within the bound is left out', { pass: 95, infra: 5 }, 'pass'],
  ['infra above the bound', { pass: 94, infra: 6 }, 'infra'],
  ['infra above the bound with a failure', { pass: 1, fail: 1, infra: 1 }, 'infra'],
  ['infra within the bound with a failure', { pass: 98, fail: 1, infra: 1 }, 'fail'],
  ['nothing but infra', { infra: 1 }, 'infra'],
  ['nothing but invalid', { invalid: 2 }, 'invalid'],
  ['an invalid case among passes', { pass: 5, invalid: 1 }, 'invalid'],
  ['an invalid case beside a failure', { fail: 1, invalid: 1 }, 'fail'],
  ['an invalid case in a run cut short', { pass: 1, invalid: 1, notRun: 4 }, 'invalid'],
  ['cut short', { pass: 1, notRun: 4 }, 'partial'],
  ['cut short after a failure', { fail: 1, notRun: 4 }, 'fail'],
  ['cut short before the first trial', { notRun: 4 }, 'partial'],
  ['nothing planned', {}, 'inconclusive'],
]

test.each(rows)('%s', (_, { notRun = 0, ...counts }, verdict) => {
  const all = { pass: 0, fail: 0, infra: 0, invalid: 0, ...counts }
  expect(runVerdict({ counts: all, notRun, maxInfraRate: 0.05 })).toBe(verdict)
})

test('failures within the threshold are a pass, unless something else is wrong', () => {
  const counts = { pass: 9, fail: 1, infra: 0, invalid: 0 }
  const facts = { counts, notRun: 0, maxInfraRate: 0.05, belowThreshold: false }
  expect(runVerdict(facts)).toBe('pass')
  expect(runVerdict({ ...facts, belowThreshold: true })).toBe('fail')
  expect(runVerdict({ ...facts, notRun: 1 })).toBe('partial')
  expect(runVerdict({ ...facts, counts: { ...counts, invalid: 1 } })).toBe('invalid')
})

test('a trial that tried nothing makes the run partial, and a broken case beside it still makes it invalid', () => {
  const counts = { pass: 9, fail: 0, infra: 0, invalid: 1 }
  const facts = { counts, untried: 1, notRun: 0, maxInfraRate: 0.05 }
  expect(runVerdict(facts)).toBe('partial')
  expect(runVerdict({ ...facts, counts: { ...counts, fail: 1 } })).toBe('fail')
  expect(runVerdict({ ...facts, counts: { ...counts, invalid: 2 } })).toBe('invalid')
})

test('a run of nothing but infra is infra even when any share is allowed', () => {
  const counts = { pass: 0, fail: 0, infra: 3, invalid: 0 }
  expect(runVerdict({ counts, notRun: 0, maxInfraRate: 1 })).toBe('infra')
  expect(runVerdict({ counts: { ...counts, pass: 1 }, notRun: 0, maxInfraRate: 1 })).toBe('pass')
})
