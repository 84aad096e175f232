import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { changedAtMs } from '../../io/path-kind.ts'
import { latestHistory } from '../ledger/read-ledger.ts'
import { openGuard } from '../open-guard.ts'
import { sealedNotice, settingsInForce } from './settings-in-force.ts'

const strict = JSON.stringify({ completion: { verify: 'self' } })
const weak = JSON.stringify({ middleware: { pre_completion_checklist: { enabled: false } } })

async function openSession() {
  const fixture = await createFixture({ app: { 'harness.json': strict }, guard: { 'harness.json': '{}' } })
  const top = realpathSync(fixture.path)
  const [root, guardHome] = [join(top, 'app'), join(top, 'guard')]
  const guard = openGuard({ guardHome, env: {}, home: top, rules: [] })
  const at = {
    session: 's1',
    root,
    cwd: root,
    agent: 'claude-code',
    agentId: null,
    agentType: null,
    promptId: null,
  } as const
  const usersFile = join(guardHome, 'harness.json')
  // By the file's own clock: `Date.now()` differs from it by some milliseconds, so the file could count as changed since.
  const nowMs = Math.ceil(changedAtMs(usersFile))
  await guard.handle({ ...at, kind: 'session_start', source: 'startup' }, { nowMs })
  return {
    [Symbol.asyncDispose]: () => fixture.rm(),
    root,
    guardHome,
    changeUsersFile: () => {
      do writeFileSync(usersFile, weak)
      while (changedAtMs(usersFile) <= nowMs)
    },
    end: () => guard.handle({ ...at, kind: 'session_end', reason: 'exit' }),
    read: () => settingsInForce({ root, env: {}, userDir: guardHome }),
  }
}

test('settings that changed since the seal count as they were, and are named', async () => {
  await using open = await openSession()
  expect(sealedNotice(await open.read())).toBeNull()
  writeFileSync(join(open.root, 'harness.json'), weak)
  const read = await open.read()
  expect(read.settings.checklist).toMatchObject({ enabled: true, verify: 'self' })
  expect(sealedNotice(read)).toMatch(/^The sealed settings count: \S+harness\.json changed since\./)
  rmSync(join(open.root, 'harness.json'))
  mkdirSync(join(open.root, 'harness'))
  writeFileSync(join(open.root, 'harness/harness.json'), weak)
  expect((await open.read()).settings.checklist).toMatchObject({ enabled: true, verify: 'self' })
})

test("a change of the user's own settings counts once the session is over", async () => {
  await using open = await openSession()
  open.changeUsersFile()
  expect((await open.read()).settings.checklist.enabled).toBe(true)
  await open.end()
  expect(latestHistory(open.guardHome, open.root).session.isOver).toBe(true)
  expect((await open.read()).settings.checklist.enabled).toBe(false)
})
