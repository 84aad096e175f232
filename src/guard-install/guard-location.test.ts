import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sealedPaths } from '../guard-engine/seal/guarded-paths.ts'
import { guardLocation } from './guard-location.ts'
import { hookLauncher, writeLauncher } from './hook-launcher.ts'

let home: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gantry-own-'))
})

afterEach(() => rmSync(home, { recursive: true, force: true }))

const sealed = (): readonly string[] => sealedPaths(guardLocation('/p', { HOME: home }))

test('plugin hooks written in the project belong to the project', () => {
  expect(sealed()).not.toContain('/p/hooks/hooks.json')
  expect(sealed()).toContain('/p/.claude/settings.local.json')
  expect(sealed()).toContain('/p/.github/copilot/settings.local.json')
})

test('a program that hooks start is sealed once it exists, even if another program wrote it', () => {
  const program = { node: '/opt/other/node', hookBin: '/opt/other/hook-bin.js' }
  const launcher = hookLauncher('claude-code', program, { HOME: home })
  if (launcher === null) throw new Error('no launcher on this system')
  expect(sealed()).not.toContain(launcher.path)
  writeLauncher(launcher)
  expect(sealed()).toContain(launcher.path)
})
