import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { changedAtMs } from '../../io/path-kind.ts'
import { changedMachine } from './machine-state.ts'
import { runnerWrittenSince } from './package-states.ts'

test('a directory moved into a runner with its old files counts as written', async () => {
  await using fixture = await createFixture({
    'node_modules/mocha/lib/run.js': '',
    'node_modules/mocha/bin.js': '',
    'other/run.js': '',
  })
  const place = { root: fixture.path, home: join(fixture.path, 'home') }
  const mocha = join(fixture.path, 'node_modules/mocha')
  const made = ['other', ...['', '/bin.js', '/lib', '/lib/run.js'].map((each) => `node_modules/mocha${each}`)]
  const sinceMs = Math.max(...made.map((each) => changedAtMs(join(fixture.path, each))))
  expect(runnerWrittenSince(place, sinceMs)).toBeNull()
  renameSync(join(mocha, 'lib'), join(fixture.path, 'lib'))
  // The kernel's clock advances in steps.
  const [from, to] = [join(fixture.path, 'other'), join(mocha, 'lib')]
  while (changedAtMs(to) <= sinceMs) {
    if (changedAtMs(from) === 0) renameSync(to, from)
    renameSync(from, to)
  }
  expect(runnerWrittenSince(place, sinceMs)).toContain('mocha')
})

test('the compiled files of the first start of a Python runner are no change of it', async () => {
  const place = '.venv/lib/python3.12/site-packages/_pytest'
  await using fixture = await createFixture({ [`${place}/main.py`]: '' })
  const directory = join(fixture.path, place)
  const sinceMs = changedAtMs(join(directory, 'main.py'))
  const compiled = join(directory, '__pycache__')
  while (changedAtMs(compiled) <= sinceMs) {
    rmSync(compiled, { recursive: true, force: true })
    mkdirSync(compiled)
  }
  expect(runnerWrittenSince({ root: fixture.path, home: fixture.path }, sinceMs)).toBeNull()
})

test('a runner at another place has the files that its version had before', () => {
  const before = {
    'package node_modules/.pnpm/a/runner': 'package runner 3.0.0 (a)',
    'package lib/pytest': 'package pytest 0 (a)',
  }
  const now = (state: string) =>
    changedMachine(before, { ...before, 'package node_modules/.x/runner': state })
  expect(now('package runner 3.0.0 (b)')).toContain('its version was not')
  for (const honest of ['package runner 3.0.0 (a)', 'package runner 3.1.0 (b)', 'package pytest 0 (b)'])
    expect(now(honest)).toBeNull()
})
