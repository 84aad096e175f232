import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { historyFold } from '../history/index.ts'
import { realGuardedPaths } from './guarded-paths.ts'
import { checkSeal, firstSeal, sealNote } from './seal-files.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-seal-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const put = (name: string, content: unknown): string => {
  const path = join(root, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const sealedNow = (paths: readonly string[]) => sealNote({ guardHome: join(root, 'guard') }, paths).files
const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'guard' }] }] }

test('a changed, removed or new file breaks the seal and is named', async () => {
  const harness = put('harness.json', { version: '1' })
  const settings = put('.claude/settings.json', { hooks })
  const local = join(root, '.claude/settings.local.json')
  const sealed = sealedNow([harness, settings, local])
  expect(await checkSeal(sealed)).toEqual([])
  put('harness.json', { version: '2' })
  rmSync(settings)
  put('.claude/settings.local.json', { disableAllHooks: true })
  expect(await checkSeal(sealed)).toEqual([
    { path: harness, what: 'its content is another' },
    { path: settings, what: 'it is gone' },
    { path: local, what: 'it was not there' },
  ])
})

test('ordinary settings of an agent do not break the seal, hooks and switches do', async () => {
  const settings = put('.claude/settings.local.json', { hooks, permissions: { allow: [] } })
  const sealed = sealedNow([settings])
  put('.claude/settings.local.json', { permissions: { allow: ['Bash(ls)'] }, hooks, theme: 'dark' })
  expect(await checkSeal(sealed)).toEqual([])
  for (const changed of [
    { hooks: {} },
    { hooks, disableAllHooks: true },
    { hooks, env: { HARNESS_CHECKLIST_ENABLED: 'false' } },
    { hooks, enabledPlugins: { 'guard@gantry': false } },
    '{ not json',
    '[]',
  ]) {
    put('.claude/settings.local.json', changed)
    expect(await checkSeal(sealed)).toHaveLength(1)
  }
})

test('a file created by an agent does not break the seal unless it configures hooks', async () => {
  const names = ['.claude/settings.json', '.copilot/config.json', 'opencode.json', '.codex/config.toml']
  const sealed = sealedNow(names.map((name) => join(root, name)))
  for (const name of names) put(name, { theme: 'dark' })
  put('.codex/config.toml', 'model = "x"\n')
  put('.copilot/config.json', '// Written by the agent.\n{ "firstLaunchAt": "2026" }\n')
  expect(await checkSeal(sealed)).toEqual([])
  put('.copilot/config.json', '// Written by a user.\n{ "hooks": {} }\n')
  put('.claude/settings.json', '// With this it runs no hook.\n{}\n')
  expect((await checkSeal(sealed)).map(({ path }) => path)).toEqual(
    ['.claude/settings.json', '.copilot/config.json'].map((name) => join(root, name)),
  )
})

test('in a Codex config only hook and feature settings count, not what a person trusts', async () => {
  const before =
    'model = "x"\n[hooks]\nStop = []\n[hooks.state."a"]\ntrusted_hash = "1"\n[projects."/p"]\ntrust_level = "trusted"\n'
  const config = put('.codex/config.toml', before)
  const sealed = sealedNow([config])
  put('.codex/config.toml', before.replace('"x"', '"y"').replace('"1"', '"2"'))
  expect(await checkSeal(sealed)).toEqual([])
  for (const changed of [
    before.replace('Stop = []', ''),
    `features.hooks = false\n${before}`,
    `${before}[features]\nhooks = false\n`,
    before.replace('[hooks]', '[ "hooks" ]\nPreToolUse = []'),
    `${before}[profiles.x.features]\nhooks = false\n`,
  ]) {
    put('.codex/config.toml', changed)
    expect(await checkSeal(sealed), changed).toHaveLength(1)
  }
})

test('a directory is sealed with every file in it, and a link by its target', async () => {
  const directory = dirname(put('.github/hooks/guard.json', { version: 1 }))
  const real = put('dotfiles/claude.json', { hooks })
  const link = join(root, 'settings.json')
  symlinkSync(real, link)
  const sealed = sealedNow([directory, link])
  expect(await checkSeal(sealed)).toEqual([])
  put('.github/hooks/more.json', {})
  put('dotfiles/claude.json', {})
  expect((await checkSeal(sealed)).map(({ path }) => path)).toEqual([directory, link])
})

test('in gantry.yaml only the guard key is sealed', async () => {
  const path = put('gantry.yaml', 'scenarios: [a]\nguard:\n  checklist:\n    enabled: true\n\nmodels: {}\n')
  const other = join(root, 'sub/gantry.yaml')
  const sealed = sealedNow([path, other])
  put('gantry.yaml', 'scenarios: [b]\nguard:\n  checklist:\n    enabled: true\n\nmodels: {x: 1}\n')
  put('sub/gantry.yaml', 'scenarios: [a]\n')
  expect(await checkSeal(sealed)).toEqual([])
  put('gantry.yaml', 'guard:\n  checklist:\n    enabled: false\n')
  put('sub/gantry.yaml', '{"guard": {}}\n')
  expect(await checkSeal(sealed)).toHaveLength(2)
})

test('only the start of the first session seals the files', async () => {
  put('harness.json', {})
  const place = {
    root,
    home: join(root, 'home'),
    env: {},
    guardHome: join(root, 'guard'),
    hookBin: null,
    agentFiles: [],
  }
  const base = {
    agent: 'codex',
    session: 's',
    agentId: null,
    agentType: null,
    promptId: null,
    cwd: root,
    root,
  } as const
  const start = { ...base, kind: 'session_start', source: 'startup' } as const
  const { initial } = historyFold
  const note = await firstSeal(start, initial, place)
  expect(note?.kind === 'sealed' && note.files[join(root, 'harness.json')]).toEqual(expect.any(String))
  expect(note?.kind === 'sealed' && note.files[join(root, '.claude/settings.json')]).toBeNull()
  expect(await firstSeal(start, { ...initial, gate: { ...initial.gate, sealed: {} } }, place)).toBeNull()
  expect(await firstSeal({ ...base, kind: 'prompt', text: '', synthetic: false }, initial, place)).toBeNull()
})

test('own paths are listed unresolved and resolved', () => {
  const links: Readonly<Record<string, string>> = {
    '/p': '/real/p',
    '/h/.claude/settings.json': '/dot/claude.json',
  }
  const resolve = (path: string) => ({ real: links[path] ?? path, kind: 'directory' as const })
  expect(realGuardedPaths(['/p/harness.json', '/h/.claude/settings.json'], resolve)).toEqual([
    '/p/harness.json',
    '/real/p/harness.json',
    '/h/.claude/settings.json',
    '/dot/claude.json',
  ])
})
