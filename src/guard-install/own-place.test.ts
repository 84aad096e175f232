import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sealedPaths } from '../guard-engine/seal/own-paths.ts'
import { hookLauncher, writeLauncher } from './hook-launcher.ts'
import { ownPlace } from './own-place.ts'

let home: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gantry-own-'))
})

afterEach(() => rmSync(home, { recursive: true, force: true }))

const sealed = (): readonly string[] => sealedPaths(ownPlace('/p', { HOME: home }))

test('the hooks of a plugin that somebody writes in the project are the project’s own', () => {
  expect(sealed()).not.toContain('/p/hooks/hooks.json')
  expect(sealed()).toContain('/p/.claude/settings.local.json')
  expect(sealed()).toContain('/p/.github/copilot/settings.local.json')
})

test('a program that hooks start is sealed once it is there, whoever wrote it', () => {
  const program = { node: '/opt/other/node', hookBin: '/opt/other/hook-bin.js' }
  const launcher = hookLauncher('claude-code', program, { HOME: home })
  if (launcher === null) throw new Error('no launcher on this system')
  expect(sealed()).not.toContain(launcher.path)
  writeLauncher(launcher)
  expect(sealed()).toContain(launcher.path)
})
