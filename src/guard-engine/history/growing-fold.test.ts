import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EditHistory, History, LedgerEntry } from '../contract.ts'
import { growHistory, historyFold } from './index.ts'

const paths = ['/p/a.ts', '/p/b.ts', '/p/c d.ts', '/p/__proto__', '/p/é']

const entry = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('edit'),
      path: fc.constantFrom(...paths),
      hash: fc.constantFrom('x', 'y', null),
      ok: fc.boolean(),
    }),
  },
  fc.record({ kind: fc.constant('green') }),
  fc.record({ kind: fc.constant('task'), task: fc.constantFrom('one', 'two') }),
  fc.record({ kind: fc.constant('start') }),
)

type Step =
  | { readonly kind: 'edit'; readonly path: string; readonly hash: string | null; readonly ok: boolean }
  | { readonly kind: 'green' }
  | { readonly kind: 'task'; readonly task: string }
  | { readonly kind: 'start' }

function ledgerEntry(step: Step, index: number): LedgerEntry {
  const base = { id: `e${index}`, at: new Date(1_767_225_600_000 + index * 1000).toISOString() }
  const event = {
    agent: 'claude-code',
    session: 's',
    agentId: null,
    agentType: null,
    promptId: null,
    cwd: '/p',
  } as const
  switch (step.kind) {
    case 'edit': {
      const outcome = {
        kind: step.ok ? 'success' : 'failure',
        exitCode: null,
        signature: 'o',
        head: '',
      } as const
      const call = {
        id: `t${index}`,
        tool: 'Edit',
        action: 'edit',
        paths: [step.path],
        signature: `s${index}`,
        input: {},
        outcome,
      } as const
      const facts = { edited: [{ path: step.path, hash: step.hash }] }
      return { kind: 'event', ...base, event: { ...event, kind: 'tool_after', call, facts } }
    }
    case 'green': {
      const evidence = {
        kind: 'test',
        command: 'npm test',
        exitCode: 0,
        treeHash: 't',
        startedAt: base.at,
        durationMs: 1,
      } as const
      return {
        kind: 'note',
        ...base,
        note: { kind: 'evidence', by: 'gantry', evidence },
      } as unknown as LedgerEntry
    }
    case 'task': {
      const project = { plan: { total: 2, done: 0, open: [step.task] }, commands: [] }
      return {
        kind: 'event',
        ...base,
        event: { ...event, kind: 'prompt', facts: { project } },
      } as unknown as LedgerEntry
    }
    case 'start':
      return {
        kind: 'event',
        ...base,
        event: { ...event, kind: 'session_start', source: 'startup', facts: {} },
      }
  }
}

/** Read in between, as rules do. */
function grown(start: History, loadEdits: () => EditHistory, entries: readonly LedgerEntry[]): History {
  const { edits: _, ...rest } = start
  const growing = growHistory(rest, loadEdits)
  for (const [index, entry] of entries.entries()) {
    growing.take(entry)
    if (index % 3 === 0) expect(growing.history.edits.files).toBeDefined()
  }
  return { ...growing.history }
}

test('a reader that changes its own records, or resumes from a checkpoint, gets the result of a pure fold', () => {
  fc.assert(
    fc.property(fc.array(entry as fc.Arbitrary<Step>, { maxLength: 60 }), fc.nat(60), (steps, cut) => {
      const entries = steps.map(ledgerEntry)
      const pure = entries.reduce((state, one) => historyFold.apply(state, one), historyFold.initial)
      expect(grown(historyFold.initial, () => historyFold.initial.edits, entries)).toEqual(pure)
      const early = entries
        .slice(0, cut)
        .reduce((state, one) => historyFold.apply(state, one), historyFold.initial)
      const stored = JSON.stringify(early.edits)
      expect(grown(early, () => JSON.parse(stored), entries.slice(cut))).toEqual(pure)
      expect(historyFold.initial.edits).toEqual({ files: {}, byAgent: {} })
    }),
    { numRuns: 300 },
  )
})

test('a pure fold does not change its input', () => {
  const [first, second] = [0, 1].map((index) =>
    ledgerEntry({ kind: 'edit', path: '/p/a.ts', hash: 'x', ok: true }, index),
  )
  if (first === undefined || second === undefined) throw new Error('no entries')
  const before = historyFold.apply(historyFold.initial, first)
  historyFold.apply(before, second)
  expect(before.edits.files['/p/a.ts']?.count).toBe(1)
})
