import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Evidence, type EvidenceKind, evidenceStatus } from './evidence.ts'

const wanted = { kind: 'test', treeHash: 'now' } as const

const record = (change: Partial<Evidence> = {}): Evidence => ({
  kind: 'test',
  command: 'npm test',
  exitCode: 0,
  treeHash: 'now',
  startedAt: '2026-01-01T00:00:00Z',
  durationMs: 10,
  ...change,
})

test('without a record of the kind the evidence is missing', () => {
  expect(evidenceStatus([], wanted)).toBe('missing')
})

test('lint is not evidence of tests', () => {
  expect(evidenceStatus([record({ kind: 'lint' })], wanted)).toBe('missing')
})

test('a green run on this tree is green', () => {
  expect(evidenceStatus([record()], wanted)).toBe('green')
})

test('a green run on another tree is stale', () => {
  expect(evidenceStatus([record({ treeHash: 'before' })], wanted)).toBe('stale')
})

test('a red run on another tree is stale, not red', () => {
  expect(evidenceStatus([record({ treeHash: 'before', exitCode: 1 })], wanted)).toBe('stale')
})

test('the newest record decides, in both directions', () => {
  expect(evidenceStatus([record(), record({ exitCode: 1 })], wanted)).toBe('red')
  expect(evidenceStatus([record({ exitCode: 1 }), record()], wanted)).toBe('green')
  expect(evidenceStatus([record(), record({ treeHash: 'later' })], wanted)).toBe('stale')
})

test('a later record of another kind does not hide the newest of this one', () => {
  expect(evidenceStatus([record({ exitCode: 1 }), record({ kind: 'lint' })], wanted)).toBe('red')
})

test.each([
  [{ executed: 0 }, 'hollow'],
  [{ executed: 4, skipped: 4 }, 'hollow'],
  [{ executed: 4, skipped: 3 }, 'green'],
  [{ skipped: 4 }, 'green'],
  [{ executed: 4, failed: 1 }, 'red'],
] as const)('exit code 0 with %j is %s', (counts, status) => {
  expect(evidenceStatus([record(counts)], wanted)).toBe(status)
})

test('a failed run is red even when nothing was executed', () => {
  expect(evidenceStatus([record({ exitCode: 5, executed: 0 })], wanted)).toBe('red')
})

test('only exit code 0 on the wanted tree is green', () => {
  const kinds: EvidenceKind[] = ['test', 'lint', 'build', 'other']
  const records = fc.array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      exitCode: fc.integer({ min: 0, max: 2 }),
      treeHash: fc.constantFrom('now', 'before'),
    }),
  )
  fc.assert(
    fc.property(records, (changes) => {
      const all = changes.map(record)
      const newest = all.findLast(({ kind }) => kind === 'test')
      const green = newest !== undefined && newest.exitCode === 0 && newest.treeHash === 'now'
      expect(evidenceStatus(all, wanted) === 'green').toBe(green)
    }),
  )
})
