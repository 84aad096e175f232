import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claudeCodeCodec } from '../../agents/claude-code/hooks.ts'
import { appendNote } from '../../guard-engine/ledger/open-ledger.ts'
import { sealNote } from '../../guard-engine/seal/seal-files.ts'
import { installHooks } from '../../guard-install/install-hooks.ts'
import { checkInstallation } from './check-installation.ts'
import { switchedOffGates } from './prove.ts'

let base: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-check-')))
  for (const name of ['home', 'project']) mkdirSync(join(base, name))
  writeFileSync(join(base, 'hook-bin.js'), '// the hook program\n')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const place = () => ({
  root: join(base, 'project'),
  home: join(base, 'home'),
  env: { HOME: join(base, 'home'), GANTRY_GUARD_HOME: join(base, 'guard') },
})
const program = () => ({ node: process.execPath, hookBin: join(base, 'hook-bin.js') })
const settings = () => join(base, 'project/.claude/settings.local.json')
const check = (hookBin = program().hookBin) =>
  checkInstallation('claude-code', place(), { ...program(), hookBin })

const install = () =>
  installHooks({
    agents: ['claude-code'],
    scope: 'project',
    place: place(),
    program: program(),
    eventsOf: () => claudeCodeCodec.events,
    checkPerson: async () => {},
    seal: async (files) => {
      const note = sealNote({ guardHome: join(base, 'guard') }, files)
      appendNote({ guardHome: join(base, 'guard'), root: place().root, note, nowMs: 0 })
    },
    isSealed: false,
    dryRun: false,
  })

test('without our hooks there is nothing to compare', async () => {
  expect(await check()).toEqual({ state: 'absent', paths: [], seal: 'none', problems: [] })
})

test('hooks installed with this program are the same, and their seal is intact', async () => {
  await install()
  expect(await check()).toEqual({ state: 'same', paths: [settings()], seal: 'intact', problems: [] })
})

test('hooks that start another program are different', async () => {
  await install()
  writeFileSync(join(base, 'other-hook-bin.js'), '// another one\n')
  const { state, problems } = await check(join(base, 'other-hook-bin.js'))
  expect(state).toBe('different')
  expect(problems.join()).toContain('gantry guard install')
})

test('hooks that are switched off are different', async () => {
  await install()
  writeFileSync(join(base, 'project/.claude/settings.json'), '{"disableAllHooks": true}')
  const { state, problems, seal } = await check()
  expect([state, seal]).toEqual(['different', 'broken'])
  expect(problems.join()).toContain('disableAllHooks')
})

test('a file changed after sealing breaks the seal', async () => {
  await install()
  const { hooks } = JSON.parse(readFileSync(settings(), 'utf8'))
  writeFileSync(settings(), JSON.stringify({ hooks: { ...hooks, Stop: [] } }))
  const { seal, problems } = await check()
  expect(seal).toBe('broken')
  expect(problems.join()).toContain('differs from its seal')
})

test('features that the project settings switch off are reported', async () => {
  expect(await switchedOffGates(place().root, place().env)).toEqual([])
  const middleware = {
    context_injection: { enabled: false },
    loop_detection: { enabled: false },
    pre_completion_checklist: { enabled: false },
    file_protection: { protected_patterns: [] },
  }
  writeFileSync(join(base, 'project/harness.json'), JSON.stringify({ middleware }))
  expect(await switchedOffGates(place().root, place().env)).toHaveLength(4)
  writeFileSync(join(base, 'project/harness.json'), '{')
  expect(await switchedOffGates(place().root, place().env)).toEqual([
    expect.stringContaining('cannot be read'),
  ])
})
