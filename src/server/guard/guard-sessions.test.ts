import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { labApp, openServerLab } from '../../../test/support/server-lab.ts'
import type { LedgerEntry } from '../../guard-engine/contract.ts'
import { openLedger } from '../../guard-engine/ledger/open-ledger.ts'
import { createRun } from '../../store/create-run.ts'

/** A session that writes `.env`, tests, edits and stops. */
function guardedLab(lab = openServerLab(), guardHome = join(lab.root, 'guard')) {
  const ledger = openLedger({
    guardHome,
    root: lab.repository,
    session: 's 1/../x',
    edition: 'test',
  })
  let clock = 0
  const add = (event: object, decision: object = {}): void => {
    clock += 1
    const at = `2026-01-01T00:00:0${clock}.000Z`
    const base = { agent: 'codex', session: 's 1/../x', agentId: null, agentType: null, promptId: null }
    ledger.append({
      kind: 'event',
      id: `e_${clock}`,
      at,
      event: { ...base, cwd: lab.repository, facts: {}, ...event },
    } as unknown as LedgerEntry)
    const pass = { verdict: 'pass', reason: null, context: null, notice: null, findings: [], notes: [] }
    const entry = { kind: 'decision', id: `d_${clock}`, at, of: `e_${clock}`, engineMs: 1, ...pass }
    ledger.append({ ...entry, ...decision } as unknown as LedgerEntry)
  }
  const call = (id: string, more: object) => ({
    id,
    tool: 'Bash',
    action: 'shell',
    paths: [],
    signature: id,
    input: { a: '[REDACTED]' },
    ...more,
  })
  const commands = [{ command: 'npm test', kind: 'test', source: 'package.json', explicit: true }]
  const project = { entries: [], truncated: false, commands, plan: null }
  add({ kind: 'session_start', source: 'startup', facts: { tree: 't1', project } })
  const denied = { rule: 'protect-files', verdict: 'deny', text: 'no' }
  add(
    { kind: 'tool_before', call: call('c1', { command: 'echo x > .env' }) },
    { verdict: 'deny', reason: 'no', findings: [denied] },
  )
  add({ kind: 'tool_before', call: call('c2', { command: 'npm test' }) })
  const outcome = { kind: 'success', exitCode: 0, signature: 'x', head: 'ok' }
  const evidence = {
    kind: 'test',
    command: 'npm test',
    exitCode: 0,
    treeHash: 't1',
    startedAt: '',
    durationMs: 1,
  }
  add(
    { kind: 'tool_after', call: call('c2', { command: 'npm test', outcome }), facts: { tree: 't1' } },
    { notes: [{ kind: 'evidence', evidence, by: 'agent', callId: 'c2' }] },
  )
  add({
    kind: 'tool_after',
    call: call('c3', { action: 'edit', paths: ['/a'], outcome }),
    facts: { edited: [{ path: '/a', hash: 'h' }] },
  })
  add(
    { kind: 'stop', flag: false, facts: { tree: 't2' } },
    {
      verdict: 'refuse',
      reason: 'not done',
      findings: [{ ...denied, rule: 'completion-gate', verdict: 'refuse' }],
    },
  )
  const { ask } = labApp(lab)
  const read = async (address: string) => JSON.parse(await (await ask(address)).text())
  return { path: ledger.place.session, ask, read }
}

test('a guarded session is listed and shows calls, denials, evidence over time and its end', async () => {
  const { read } = guardedLab()
  const list = await read('/v1/guard/sessions')
  expect(list.total).toBe(1)
  const [row] = list.sessions
  expect(row).toMatchObject({
    session: 's 1/../x',
    agent: 'codex',
    calls: 3,
    denials: 1,
    refusals: 1,
    end: null,
  })
  const page = await read(`/v1/guard/sessions/${row.id}`)
  expect(page.row).toEqual(row)
  expect(
    page.moments.map(({ title, result, verdict }: Record<string, unknown>) => [title, result, verdict]),
  ).toEqual([
    ['startup', null, 'pass'],
    ['echo x > .env', 'denied', 'deny'],
    ['npm test', 'success', 'pass'],
    ['/a', 'success', 'pass'],
    ['', null, 'refuse'],
  ])
  expect(page.evidence).toEqual([
    {
      command: 'npm test',
      points: [
        { at: '2026-01-01T00:00:01.000Z', status: 'missing' },
        { at: '2026-01-01T00:00:04.000Z', status: 'green' },
        { at: '2026-01-01T00:00:05.000Z', status: 'stale' },
      ],
    },
  ])
  expect(page.report.results).toMatchObject({ denied: 1, success: 2 })
})

test('a decision explains itself with its payload', async () => {
  const { ask, read } = guardedLab()
  const { sessions } = await read('/v1/guard/sessions')
  const at = `/v1/guard/sessions/${sessions[0].id}/decision`
  const found = await read(`${at}?id=d_2`)
  expect(found).toMatchObject({
    decision: { verdict: 'deny', reason: 'no' },
    event: { event: { call: { input: { a: '[REDACTED]' } } } },
    change: [expect.stringContaining('does not change the named file'), expect.any(String)],
  })
  expect((await ask(`${at}?id=d_nothing`)).status).toBe(404)
})

test('foreign lines of a ledger are counted and ignored, and an unknown session is not found', async () => {
  const { ask, read, path } = guardedLab()
  appendFileSync(path, '{"kind":"event"}\n')
  const { sessions } = await read('/v1/guard/sessions')
  const page = await read(`/v1/guard/sessions/${sessions[0].id}`)
  expect(page.damaged).toBe(1)
  expect(page.moments).toHaveLength(5)
  for (const id of ['nothing', 'a~b', '..~..', '%2e%2e%2fx~y'])
    expect((await ask(`/v1/guard/sessions/${id}`)).status, id).toBe(404)
})

test('a guarded trial shows the decisions of its guard, each with the id of its call', async () => {
  const lab = openServerLab()
  const run = createRun(lab.store, { kind: 'scenario', title: '', argv: [], cwd: lab.root })
  run.openTrial('a.b-1')
  const call = { ts: 1, event: 'tool_call', id: 'c1', tool: 'Bash' }
  writeFileSync(join(run.trialDir('a.b-1'), 'events.jsonl'), `{}\n${JSON.stringify(call)}\n`)
  const { ask, read } = guardedLab(lab, join(run.trialDir('a.b-1'), 'guard'))
  const { guard } = await read(`/v1/runs/${run.id}/trials/a.b-1/evidence`)
  const [{ row, moments }] = guard
  expect(moments[1]).toMatchObject({ call_id: 'c1', event_at: 3, verdict: 'deny', rules: ['protect-files'] })
  const at = `/v1/guard/sessions/${row.id}`
  expect(await read(at)).toMatchObject({
    row,
    moments: moments.map(({ event_at, ...moment }: { event_at: number }) => moment),
  })
  expect(await read(`${at}/decision?id=d_2`)).toMatchObject({ decision: { reason: 'no' } })
  expect((await ask(at.replace('a.b-1', 'b'))).status).toBe(404)
  expect(await read('/v1/guard/sessions')).toMatchObject({ total: 0 })
})
