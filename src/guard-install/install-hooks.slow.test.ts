import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openInstallLab, original, playKilledInstalls } from './kill-installs.conformance.ts'

test('of many installs at once, one writes and makes one copy, and all succeed', async () => {
  using lab = openInstallLab()
  const { settings, names, start } = lab
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => start('install').ended))
  expect(outcomes.flat().sort()).toEqual(['installed', ...Array(3).fill('unchanged')])
  expect(names()).toEqual(['settings.local.json', expect.stringContaining('.gantry-backup-')])
  expect(await start('uninstall').ended).toEqual(['restored'])
  expect(readFileSync(settings, 'utf8')).toBe(original)
  expect(names()).toEqual(['settings.local.json'])
})

test('a process killed at some moments leaves a complete file and a way back to the original', () =>
  playKilledInstalls(6))
