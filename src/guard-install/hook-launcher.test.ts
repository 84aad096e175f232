import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { hookLauncher, launcherKeeper, writeLauncher } from './hook-launcher.ts'

test('a replaced launcher is put back by a process that has seen it, and reported once', async () => {
  await using home = await createFixture({})
  const env = { GANTRY_GUARD_HOME: join(home.path, 'guard') }
  const launcher = hookLauncher('codex', { node: '/opt/node', hookBin: '/opt/hook-bin.js' }, env)
  if (launcher === null) throw new Error('no launcher on this platform')
  writeLauncher(launcher)
  const look = launcherKeeper(env)
  expect(look()).toEqual([])
  writeFileSync(launcher.path, '#!/bin/sh\nexit 0\n')
  expect(launcherKeeper(env)()).toEqual([])
  expect(look()).toEqual([launcher.path])
  expect(readFileSync(launcher.path, 'utf8')).toBe(launcher.text)
  expect(look()).toEqual([])
  chmodSync(launcher.path, 0o600)
  expect(look()).toEqual([launcher.path])
})
