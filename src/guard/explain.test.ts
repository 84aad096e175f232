import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCommand } from '../../test/support/run-command.ts'
import { explainCommand } from '../cli/guard/explain.ts'
import type { DecisionEntry, EventEntry } from '../guard-engine/contract.ts'
import { openLedger } from '../guard-engine/ledger/open-ledger.ts'
import { explain, explainNow } from './explain.ts'

let guardHome: string
beforeEach(() => {
  guardHome = mkdtempSync(join(tmpdir(), 'gantry-explain-'))
})
afterEach(() => rmSync(guardHome, { recursive: true, force: true }))

const root = '/home/dev/project'

function decided(session: string, id: string, at: string, over: Partial<DecisionEntry> = {}): void {
  const ledger = openLedger({ guardHome, root, session, edition: 'x' })
  const call = {
    id: 't',
    tool: 'Write',
    action: 'write',
    paths: ['/home/dev/project/harness.json'],
    signature: 's',
    input: {},
  } as const
  const event: EventEntry = {
    kind: 'event',
    id: `e_${id}`,
    at,
    event: {
      kind: over.verdict === 'refuse' ? 'stop' : 'tool_before',
      agent: 'claude-code',
      session,
      agentId: null,
      agentType: null,
      promptId: null,
      cwd: root,
      ...(over.verdict === 'refuse' ? {} : { call }),
      facts: {
        tree: 'tree-now',
        project: {
          entries: [],
          truncated: false,
          commands: [],
          plan: { total: 2, done: 1, open: ['write it'] },
        },
      },
    },
  }
  ledger.append(event)
  ledger.append({
    kind: 'decision',
    id,
    at,
    of: event.id,
    verdict: 'deny',
    reason: 'no\u001b[2J',
    context: null,
    notice: null,
    findings: [{ rule: 'protect-itself', verdict: 'deny', text: 'guarded' }],
    notes: [],
    engineMs: 1,
    ...over,
  })
}

test('a decision is found by its id in any ledger, with its event and what would change it', () => {
  decided('one', 'd_1', '2026-01-01T00:00:00.000Z')
  decided('two', 'd_2', '2026-01-01T00:00:01.000Z')
  const found = explain({ guardHome, root: '/elsewhere', wanted: 'd_1' })
  expect(found.decision.id).toBe('d_1')
  expect(found.event.event.call?.paths).toEqual(['/home/dev/project/harness.json'])
  expect(found.facts).toContainEqual({ name: 'tree now', value: 'tree-now' })
  expect(found.change.join(' ')).toContain('gantry guard unlock')
})

test('latest is the newest decision of all sessions of this project', () => {
  decided('one', 'd_2', '2026-01-01T00:00:01.000Z')
  decided('two', 'd_1', '2026-01-01T00:00:00.000Z')
  expect(explain({ guardHome, root, wanted: 'latest' }).decision.id).toBe('d_2')
  expect(() => explain({ guardHome, root: '/elsewhere', wanted: 'latest' })).toThrow(
    'has not made a decision in /elsewhere',
  )
})

test('latest is the last decision that mattered, not a call that merely passed after it', () => {
  decided('one', 'd_1', '2026-01-01T00:00:00.000Z')
  const passed = { verdict: 'pass', reason: null, findings: [] } as const
  decided('one', 'd_2', '2026-01-01T00:00:01.000Z', passed)
  decided('two', 'd_3', '2026-01-01T00:00:02.000Z', passed)
  expect(explain({ guardHome, root, wanted: 'latest' }).decision.id).toBe('d_1')
  const ended = { kind: 'ended', state: 'VERIFIED', tree: 'T', why: 'green' } as const
  decided('two', 'd_4', '2026-01-01T00:00:03.000Z', { ...passed, notes: [ended] })
  expect(explain({ guardHome, root, wanted: 'latest' }).decision.id).toBe('d_4')
})

test('a refusal to stop shows what is open and who can waive it', () => {
  decided('one', 'd_1', '2026-01-01T00:00:00.000Z', { verdict: 'refuse', findings: [] })
  const { change } = explain({ guardHome, root, wanted: 'd_1' })
  expect(change.join(' ')).toContain('write it')
  expect(change.join(' ')).toContain('gantry guard waive')
})

test('a run that was green at the decision and is stale by now is named', async () => {
  const run = { kind: 'test', command: 'npm test', exitCode: 0, treeHash: 'tree-now', durationMs: 1 } as const
  const evidence = { ...run, startedAt: '2026-01-01T00:00:00.000Z', executed: 1 }
  const note = { kind: 'evidence', evidence, by: 'agent', callId: null } as const
  decided('one', 'd_1', '2026-01-01T00:00:00.000Z', { verdict: 'pass', findings: [], notes: [note] })
  decided('one', 'd_2', '2026-01-01T00:00:01.000Z')
  const at = (tree: string, where = root) =>
    explainNow({ guardHome, root: where, wanted: 'd_2' }, async () => tree)
  expect((await at('tree-now')).evidence).toMatchObject([{ status: 'green', tree: 'tree-now' }])
  expect((await at('tree-now')).evidence[0]).not.toHaveProperty('isStaleNow')
  expect((await at('edited')).evidence).toMatchObject([{ status: 'green', isStaleNow: true }])
  expect((await at('edited', '/elsewhere')).evidence[0]).not.toHaveProperty('isStaleNow')
})

test('evidence includes what the decision itself recorded, in plain words', async () => {
  const run = {
    kind: 'other',
    command: 'sh test.sh',
    exitCode: 0,
    treeHash: 'tree-now',
    durationMs: 1,
  } as const
  const evidence = { ...run, startedAt: '2026-01-01T00:00:00.000Z' }
  const notes = [{ kind: 'evidence', evidence, by: 'guard', callId: null }] as const
  decided('one', 'd_1', '2026-01-01T00:00:00.000Z', { verdict: 'pass', findings: [], notes })
  expect(explain({ guardHome, root, wanted: 'd_1' }).evidence).toMatchObject([{ status: 'green' }])
  const env = { GANTRY_GUARD_HOME: guardHome }
  const text = await runCommand(explainCommand, ['d_1'], { env, cwd: guardHome })
  expect(text.stdout).toContain('a run of `sh test.sh`: exit 0, seen by guard')
})

test('an unknown decision is an error with a hint', () => {
  expect(() => explain({ guardHome, root, wanted: 'd_9' })).toThrow("no ledger contains the decision 'd_9'")
})

test('the command prints text without control characters of the agent, and JSON', async () => {
  decided('one', 'd_1', '2026-01-01T00:00:00.000Z')
  const env = { GANTRY_GUARD_HOME: guardHome }
  const text = await runCommand(explainCommand, ['d_1'], { env, cwd: root })
  expect(text.stdout).toContain('protect-itself (deny): guarded')
  expect(text.stdout).not.toContain('\u001b')
  const json = await runCommand(explainCommand, ['d_1', '--json'], { env, cwd: root })
  expect(JSON.parse(json.stdout)).toMatchObject({ decision: { id: 'd_1' }, event: { id: 'e_d_1' } })
})
