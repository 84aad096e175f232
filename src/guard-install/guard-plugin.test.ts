import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claudeCodeCodec } from '../agents/claude-code/hooks.ts'
import { version } from '../core/version.ts'
import {
  pluginFiles,
  pluginHooks,
  pluginLauncherText,
  removeGuardPlugin,
  writeGuardPlugin,
} from './guard-plugin.ts'
import { anyNode } from './hook-launcher.ts'

const root = join(import.meta.dirname, '../..')
const published = join(root, 'plugins/gantry-guard')
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

/** Every event of 2.1.197, which rejects a whole file for an unknown event. */
const oldEvents = new Set(
  `ConfigChange CwdChanged Elicitation ElicitationResult FileChanged InstructionsLoaded MessageDisplay Notification
  PermissionDenied PermissionRequest PostCompact PostToolBatch PostToolUse PostToolUseFailure PreCompact PreToolUse SessionEnd
  SessionStart Setup Stop StopFailure SubagentStart SubagentStop TaskCompleted TaskCreated TeammateIdle UserPromptExpansion
  UserPromptSubmit WorktreeCreate WorktreeRemove`.split(/\s+/),
)

let dir: string
let bundle: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gantry-plugin-'))
  bundle = join(dir, 'hook-bin.js')
  writeFileSync(bundle, '// the program\n')
})

afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('the published plugin registers the codec events below the key `hooks`', () => {
  expect(read(join(published, 'hooks/hooks.json'))).toEqual(JSON.parse(pluginHooks(claudeCodeCodec.events)))
})

test('its launcher is the one for the Node on the PATH, and is executable', () => {
  const path = join(published, 'bin/gantry-hook.cjs')
  expect(readFileSync(path, 'utf8')).toBe(pluginLauncherText(anyNode))
  expect(statSync(path).mode & 0o111).toBe(0o111)
})

test('it registers no event that is unknown to an older Claude Code', () => {
  const { hooks } = read(join(published, 'hooks/hooks.json'))
  expect(Object.keys(hooks).filter((event) => !oldEvents.has(event))).toEqual([])
})

test('its manifest has the version of the package and no hooks', () => {
  const manifest = read(join(published, '.claude-plugin/plugin.json'))
  expect(manifest.version).toBe(version)
  expect(manifest).not.toHaveProperty('hooks')
  const { plugins } = read(join(root, '.claude-plugin/marketplace.json'))
  expect(plugins).toMatchObject([{ name: manifest.name, source: './plugins/gantry-guard' }])
})

test('a written plugin is complete, starts the Node that wrote it, and is not written twice', () => {
  const target = join(dir, 'plugin')
  const files = pluginFiles(claudeCodeCodec.events, { node: '/opt/node', hookBin: bundle })
  expect(writeGuardPlugin(target, files, { dryRun: true }).result).toBe('installed')
  expect(readdirSync(dir)).toEqual(['hook-bin.js'])
  expect(writeGuardPlugin(target, files, { dryRun: false }).result).toBe('installed')
  expect(readFileSync(join(target, 'dist/hook-bin.js'), 'utf8')).toBe('// the program\n')
  const [{ hooks }] = read(join(target, 'hooks/hooks.json')).hooks.PreToolUse
  const launcher = 'bin/gantry-hook.cjs'
  expect(hooks).toMatchObject([{ command: `\${CLAUDE_PLUGIN_ROOT}/${launcher}`, onFailure: 'block' }])
  expect(readFileSync(join(target, launcher), 'utf8')).toMatch(/^#!\/opt\/node\n/)
  expect(writeGuardPlugin(target, files, { dryRun: false })).toMatchObject({ result: 'unchanged', diff: '' })
  chmodSync(join(target, launcher), 0o644)
  expect(writeGuardPlugin(target, files, { dryRun: false }).result).toBe('updated')
  expect(statSync(join(target, launcher)).mode & 0o777).toBe(0o755)
})

test('removing it keeps only files of others', () => {
  const target = join(dir, 'plugin')
  const files = pluginFiles(claudeCodeCodec.events, { node: '/opt/node', hookBin: bundle })
  writeGuardPlugin(target, files, { dryRun: false })
  expect(removeGuardPlugin(target, files.keys(), { dryRun: true }).result).toBe('removed')
  expect(removeGuardPlugin(target, files.keys(), { dryRun: false }).result).toBe('removed')
  expect(readdirSync(dir)).toEqual(['hook-bin.js'])
  writeGuardPlugin(target, files, { dryRun: false })
  writeFileSync(join(target, 'dist/notes.txt'), 'mine')
  removeGuardPlugin(target, files.keys(), { dryRun: false })
  expect(readdirSync(target, { recursive: true })).toEqual(['dist', 'dist/notes.txt'])
  expect(removeGuardPlugin(join(dir, 'none'), files.keys(), { dryRun: false }).result).toBe('absent')
})

test('a foreign directory and a missing bundle are refused', () => {
  const files = pluginFiles(claudeCodeCodec.events, { node: '/opt/node', hookBin: bundle })
  const other = join(dir, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'a.txt'), '')
  expect(() => writeGuardPlugin(other, files, { dryRun: false })).toThrow("not the guard's plugin")
  expect(() => removeGuardPlugin(other, files.keys(), { dryRun: false })).toThrow("not the guard's plugin")
  expect(() => pluginFiles([], { node: '/opt/node', hookBin: join(root, 'src/hook-bin.ts') })).toThrow(
    'which has not been built yet',
  )
})
