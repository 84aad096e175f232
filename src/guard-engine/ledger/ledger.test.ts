import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { EventEntry, LedgerEntry } from '../contract.ts'
import { appendNote, type GuardLedger, openLedger } from './open-ledger.ts'
import { ledgerFiles, readLedger } from './read-ledger.ts'

async function guard(session = 's1') {
  const fixture = await createFixture()
  const guardHome = fixture.path.replace(/\/$/, '')
  const request = { guardHome, root: '/home/dev/app', session, edition: 'test' }
  return { fixture, guardHome, request, open: () => openLedger(request) }
}

function edit(id: string, path = '/home/dev/app/a.ts', at = '2026-01-01T00:00:00.000Z'): EventEntry {
  return {
    kind: 'event',
    id,
    at,
    event: {
      kind: 'tool_after',
      agent: 'claude-code',
      session: 's1',
      agentId: null,
      agentType: null,
      promptId: null,
      cwd: '/home/dev/app',
      call: {
        id,
        tool: 'Edit',
        action: 'edit',
        paths: [path],
        signature: 'x',
        input: {},
        outcome: { kind: 'success', exitCode: null, signature: 'y', head: '' },
      },
      facts: { edited: [{ path, hash: 'h' }] },
    },
  }
}

const entries = (ledger: GuardLedger): number => ledger.history.session.entries

test('entries of one process are read by another, in ledger order', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const first = open()
  first.append(edit('e1'))
  first.append(edit('e2'))
  const second = open()
  expect(second.advance()).toBe(true)
  expect(second.history.calls.total).toBe(2)
  expect(second.health).toEqual({ tampered: 0, torn: 0, truncated: 0 })
})

test('a reader stops at its own entry and continues from there later', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const ledger = open()
  for (const id of ['e1', 'mine', 'e3']) ledger.append(edit(id))
  expect(ledger.advance('mine')).toBe(true)
  expect(ledger.history.calls.total).toBe(2)
  expect(ledger.advance()).toBe(true)
  expect(ledger.history.calls.total).toBe(3)
})

test('a missing entry is reported', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const ledger = open()
  ledger.append(edit('e1'))
  expect(ledger.advance('other')).toBe(false)
})

test('files and directories are private to the user', async () => {
  const { fixture, guardHome, open } = await guard()
  await using _ = fixture
  const ledger = open()
  ledger.append(edit('e1'))
  const modes = [join(guardHome, 'key'), ledger.place.session, ledger.place.directory].map(
    (path) => statSync(path).mode & 0o777,
  )
  expect(modes).toEqual([0o600, 0o600, 0o700])
})

test('a line appended by another program does not count and is reported', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const ledger = open()
  ledger.append(edit('e1'))
  const genuine = readFileSync(ledger.place.session, 'utf8').trim()
  appendFileSync(ledger.place.session, `${JSON.stringify(edit('forged'))}\n`)
  appendFileSync(ledger.place.session, `${genuine.replace('"e1"', '"e9"')}\n`)
  ledger.append(edit('e2'))
  const reader = open()
  reader.advance()
  expect(reader.history.calls.total).toBe(2)
  expect(reader.health.tampered).toBe(2)
})

test('a line of another session or another project does not count here', async () => {
  const { fixture, guardHome, open, request } = await guard()
  await using _ = fixture
  const other = openLedger({ ...request, session: 's2' })
  other.append(edit('e1'))
  const elsewhere = openLedger({ ...request, root: '/home/dev/other' })
  elsewhere.append(edit('e2'))
  const mine = open()
  mine.append(edit('e3'))
  for (const { place } of [other, elsewhere]) appendFileSync(mine.place.session, readFileSync(place.session))
  mine.advance()
  expect(mine.history.calls.total).toBe(1)
  expect(mine.health.tampered).toBe(2)
  expect(ledgerFiles(guardHome, '/home/dev/app')).toHaveLength(3)
})

test('a line copied within its ledger counts once', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const ledger = open()
  ledger.append(edit('e1'))
  appendFileSync(ledger.place.session, readFileSync(ledger.place.session))
  ledger.advance()
  expect(ledger.history.calls.total).toBe(1)
})

test('of two decisions on one event, the first counts', async () => {
  const { fixture, guardHome, open } = await guard()
  await using _ = fixture
  const decision = (id: string, about: string): LedgerEntry => ({
    kind: 'decision',
    id,
    at: '2026-01-01T00:00:00.000Z',
    of: 'e1',
    verdict: 'pass',
    reason: null,
    context: null,
    notice: null,
    findings: [],
    notes: [{ kind: 'warned', about }],
    engineMs: 0,
  })
  const ledger = open()
  ledger.append(edit('e1'))
  ledger.append(decision('d_1', 'first'))
  ledger.append(decision('d_2', 'second'))
  ledger.advance()
  expect(ledger.history.session.warned).toEqual(['first'])
  expect(ledger.decisionOn('e1')?.id).toBe('d_1')
  ledger.append(edit('e1'))
  const { entries } = readLedger(guardHome, ledger.place.session)
  expect(entries.map(({ id }) => id)).toEqual(['e1', 'd_1'])
})

test('the history is the same with a checkpoint, without one and with a forged one', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const writer = open()
  for (let index = 0; index < 200; index += 1)
    writer.append(edit(`e${index}`, `/home/dev/app/${index % 7}.ts`))
  writer.advance()
  writer.keep()
  const withIt = open()
  withIt.advance()
  const { checkpoint } = writer.place
  const kept = readFileSync(checkpoint, 'utf8')
  writeFileSync(checkpoint, kept.replace('"total":200', '"total":999'))
  const forged = open()
  forged.advance()
  rmSync(checkpoint)
  const without = open()
  without.advance()
  expect(withIt.history).toEqual(without.history)
  expect(forged.history).toEqual(without.history)
  expect(statSync(join(checkpoint, '..')).mode & 0o777).toBe(0o700)
})

test('a foreign line is reported by every reader, even after a checkpoint', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const writer = open()
  writer.append(edit('e1'))
  appendFileSync(writer.place.session, `${JSON.stringify(edit('forged'))}\n`)
  for (let round = 0; round < 3; round += 1) {
    const reader = open()
    reader.append(edit(`r${round}`))
    reader.advance()
    reader.keep()
    expect(reader.history.calls.total).toBe(round + 2)
    expect(reader.health.tampered).toBe(1)
  }
})

test('a line changed in place after verification no longer counts', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const writer = open()
  for (const id of ['e1', 'e2']) writer.append(edit(id))
  writer.advance()
  writer.keep()
  const proven = open()
  proven.advance()
  expect(proven.health.tampered).toBe(0)
  const { session } = writer.place
  writeFileSync(session, readFileSync(session, 'utf8').replace('"success"', '"failure"'))
  const reader = open()
  reader.advance()
  expect(reader.health.tampered).toBe(1)
  expect(reader.history.calls.total).toBe(1)
})

test('a forged checkpoint is rejected by later readers too', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const writer = open()
  for (let index = 0; index < 200; index += 1) writer.append(edit(`e${index}`))
  writer.advance()
  writer.keep()
  const { checkpoint } = writer.place
  writeFileSync(checkpoint, readFileSync(checkpoint, 'utf8').replace('"total":200', '"total":999'))
  for (let round = 0; round < 3; round += 1) {
    const reader = open()
    reader.advance()
    expect(reader.history.calls.total).toBe(200)
    if (round < 2) reader.keep()
  }
})

test('a forged cache of verified files does not make forged lines count', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const writer = open()
  writer.append(edit('e1'))
  writer.advance()
  writer.keep()
  appendFileSync(writer.place.session, `${JSON.stringify(edit('forged'))}\n`)
  const state = `${statSync(writer.place.session).dev}:${statSync(writer.place.session).ino}`
  const before = readFileSync(writer.place.proven, 'utf8')
  writeFileSync(writer.place.proven, before.replace(/"session":"[^"]*"/, `"session":"${state}:1:1"`))
  const reader = open()
  reader.advance()
  expect(reader.history.calls.total).toBe(1)
  expect(reader.health.tampered).toBe(1)
})

test('a checkpoint of another edition is ignored', async () => {
  const { fixture, request, open } = await guard()
  await using _ = fixture
  const writer = open()
  for (let index = 0; index < 200; index += 1) writer.append(edit(`e${index}`))
  writer.advance()
  writer.keep()
  const newer = openLedger({ ...request, edition: 'newer' })
  expect(newer.history.calls.total).toBe(0)
  newer.advance()
  expect(newer.history.calls.total).toBe(200)
})

test('a ledger cut below its checkpoint keeps the known entries, reports the loss and continues', async () => {
  const { fixture, open } = await guard()
  await using _ = fixture
  const writer = open()
  for (let index = 0; index < 200; index += 1) writer.append(edit(`e${index}`))
  writer.advance()
  writer.keep()
  truncateSync(writer.place.session, 0)
  const reader = open()
  reader.append(edit('new'))
  expect(reader.advance('new')).toBe(true)
  expect(reader.history.calls.total).toBe(201)
  expect(reader.health.truncated).toBe(1)
  reader.keep()
  const later = open()
  later.advance()
  expect(later.history.calls.total).toBe(201)
  expect(later.health.truncated).toBe(1)
})

test('a note of a person counts in every session of the project, in order of time', async () => {
  const { fixture, guardHome, open, request } = await guard()
  await using _ = fixture
  const ledger = open()
  ledger.append(edit('e1', undefined, '2026-01-01T00:00:00.000Z'))
  appendNote({
    guardHome,
    root: '/home/dev/app',
    note: { kind: 'unlocked', untilMs: 99, by: 'me' },
    nowMs: Date.parse('2026-01-01T00:00:01Z'),
  })
  ledger.append(edit('e2', undefined, '2026-01-01T00:00:02.000Z'))
  ledger.advance('e1')
  expect(ledger.history.gate.unlockedUntilMs).toBe(0)
  ledger.advance('e2')
  expect(ledger.history.gate.unlockedUntilMs).toBe(99)
  const other = openLedger({ ...request, session: 'another' })
  other.advance()
  expect(other.history.gate.unlockedUntilMs).toBe(99)
})

test('a note counts even if the clock goes back', async () => {
  const { fixture, guardHome, open } = await guard()
  await using _ = fixture
  const ledger = open()
  ledger.append(edit('e1', undefined, '2026-01-02T00:00:00.000Z'))
  appendNote({
    guardHome,
    root: '/home/dev/app',
    note: { kind: 'unlocked', untilMs: 99, by: 'me' },
    nowMs: Date.parse('2026-01-01T23:00:00Z'),
  })
  ledger.append(edit('e2', undefined, '2026-01-01T00:00:00.000Z'))
  ledger.advance('e2')
  expect(ledger.history.gate.unlockedUntilMs).toBe(99)
})

test.each([
  ['that climbs', '../../x'],
  ['of ten thousand letters', 'x'.repeat(10_000)],
  ['that is empty', ''],
  ['with a NUL', 'a\0b'],
  ['that is a path', '/etc/passwd'],
  ['without letters', '…'],
  ['that is a dot', '.'],
])('a session id %s stays in its directory', async (_name, session) => {
  const { fixture, open } = await guard(session)
  await using _ = fixture
  const ledger = open()
  ledger.append(edit('e1'))
  expect(readdirSync(join(ledger.place.directory, 'sessions'))).toHaveLength(1)
  const reader = open()
  reader.advance()
  expect(reader.history.calls.total).toBe(1)
})

test('similar session ids have separate ledgers', async () => {
  const { fixture, request } = await guard()
  await using _ = fixture
  openLedger({ ...request, session: 'a/b' }).append(edit('e1'))
  const other = openLedger({ ...request, session: 'a b' })
  other.advance()
  expect(entries(other)).toBe(0)
})

test('a whole ledger is read for reports, including what does not count', async () => {
  const { fixture, guardHome, open } = await guard()
  await using _ = fixture
  const { append, place } = open()
  append(edit('e1'))
  appendFileSync(place.session, '{"kind":"ev')
  append(edit('e2'))
  const { entries: read, torn, tampered } = readLedger(guardHome, place.session)
  expect(read.map(({ id }) => id)).toEqual(['e1', 'e2'])
  expect({ torn, tampered }).toEqual({ torn: 1, tampered: 0 })
})
