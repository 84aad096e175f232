import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { HookedAgent } from '../agents/hook-codecs.ts'
import { appendNote } from '../guard-engine/ledger/open-ledger.ts'
import { checkSeal, currentSeal, sealNote } from '../guard-engine/seal/seal-files.ts'
import { realPath } from '../io/resolve-links.ts'
import { openStore } from '../store/open-store.ts'
import { checkInstallable, installForRun, removeLeftBehind } from './temporary-guard.ts'

async function lab(agent: HookedAgent = 'claude-code', path = '.claude/settings.local.json') {
  const fixture = await createFixture({ 'app/keep': '', 'home/keep': '', 'store/runs/keep': '' })
  const top = realPath(fixture.path)
  const root = join(top, 'app')
  const guardHome = join(top, 'guard')
  const store = openStore({ env: {}, cwd: top, root: join(top, 'store') })
  const runDir = join(store.runsDir, 'run_20260101_000000_aaaaaa')
  mkdirSync(runDir)
  const request = {
    agent,
    path: join(root, path),
    place: { root, home: join(top, 'home'), env: { GANTRY_GUARD_HOME: guardHome } },
    program: { node: process.execPath, hookBin: join(top, 'hook-bin.js') },
    runDir,
  }
  return { fixture, root, guardHome, store, runDir, request }
}

test('hooks stay until they are removed, and then everything is as before', async () => {
  const { fixture, root, request, runDir } = await lab()
  await using _ = fixture
  const takeBack = await installForRun(request)
  expect(readFileSync(request.path, 'utf8')).toContain('PreToolUse')
  await takeBack()
  expect(existsSync(join(root, '.claude'))).toBe(false)
  expect(readdirSync(runDir)).toEqual([])
})

test('the seal follows our own changes and accepts no others', async () => {
  const { fixture, root, guardHome, request } = await lab('copilot', '.github/hooks/gantry.json')
  await using _ = fixture
  mkdirSync(join(root, '.github/hooks'), { recursive: true })
  writeFileSync(join(root, '.github/hooks/theirs.json'), '{}')
  const sealed = [join(root, '.github/hooks'), request.path, join(root, 'harness.json')]
  const note = sealNote({ guardHome }, sealed)
  appendNote({ guardHome, root, note, nowMs: 0 })
  const broken = async () => (await checkSeal(currentSeal(guardHome, root) ?? {})).map(({ path }) => path)
  // A file was tampered with before the run.
  writeFileSync(join(root, 'harness.json'), '{"version":"1.0.0"}')
  const takeBack = await installForRun(request)
  expect(await broken()).toEqual([join(root, 'harness.json')])
  // And in the same directory during the run.
  writeFileSync(join(root, '.github/hooks/evil.json'), '{"hooks":{}}')
  await takeBack()
  expect((await broken()).sort()).toEqual([join(root, '.github/hooks'), join(root, 'harness.json')])
})

test('hooks of a killed run are removed, only in this project and never of a running run', async () => {
  const { fixture, root, store, request } = await lab()
  await using _ = fixture
  await installForRun(request)
  expect(await removeLeftBehind(store, '/somewhere/else')).toEqual([])
  expect(await removeLeftBehind(store, root)).toEqual([expect.stringContaining('Removed hooks')])
  expect(existsSync(request.path)).toBe(false)
  expect(await removeLeftBehind(store, root)).toEqual([])
})

test('an unwritable settings file is reported early, and does not block later runs', async () => {
  const { fixture, root, store, request } = await lab()
  await using _ = fixture
  mkdirSync(join(root, '.claude'))
  writeFileSync(request.path, '{ "hooks": ')
  await expect(checkInstallable(request)).rejects.toMatchObject({ code: 'INVALID_FILE' })
  await expect(installForRun(request)).rejects.toMatchObject({ code: 'INVALID_FILE' })
  expect(await removeLeftBehind(store, root)).toEqual([expect.stringContaining('could not be removed')])
  expect(readFileSync(request.path, 'utf8')).toBe('{ "hooks": ')
})
