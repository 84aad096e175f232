import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { loadProject } from './load.ts'
import { openProjectStore } from './open-project-store.ts'

describe('loadProject', () => {
  test('finds gantry.yaml upward, and takes its directory as the root', async () => {
    await using files = await createFixture({ 'gantry.yaml': 'fixtures_path: fx\n' })
    const below = join(files.path, 'a/b')
    mkdirSync(below, { recursive: true })
    const project = loadProject(below)
    expect(project.root).toBe(files.path.replace(/\/$/, ''))
    expect(project.config.fixtures_path).toBe('fx')
  })

  test('takes the nearest one, and gantry.yml as well', async () => {
    await using files = await createFixture({
      'gantry.yaml': 'fixtures_path: outer\n',
      inner: { 'gantry.yml': 'fixtures_path: inner\n' },
    })
    expect(loadProject(join(files.path, 'inner')).config.fixtures_path).toBe('inner')
  })

  test('without a file every key has its default', async () => {
    await using files = await createFixture({ 'named.yaml': '' })
    const { config } = loadProject(files.path, 'named.yaml')
    expect(config).toEqual({
      agents: {},
      arms: {},
      profiles: {},
      gates: [],
      scenarios: ['scenarios/**/*.{yaml,yml}', 'fixtures/*.{yaml,yml}'],
      fixtures_path: 'fixtures',
      cassettes_path: 'cassettes',
      models: {},
      redact: [],
      guard: {},
      plugin: {},
    })
  })

  test('throws for a file that does not load, with its position', async () => {
    await using files = await createFixture({ 'gantry.yaml': 'agentz: {}\n' })
    expect(() => loadProject(files.path)).toThrow(/gantry\.yaml:1:1.*agents/s)
  })
})

describe('openProjectStore', () => {
  test('the environment overrides results_path, which is relative to its file', async () => {
    await using files = await createFixture({ 'gantry.yaml': 'results_path: out\n', sub: {} })
    const cwd = join(files.path, 'sub')
    mkdirSync(cwd, { recursive: true })
    expect(openProjectStore({ cwd, env: { AGENT_ARTIFACT_DIR: '/x' } }).root).toBe('/x')
    expect(openProjectStore({ cwd, env: { AGENT_ARTIFACT_DIR: '' } }).root).toBe(join(files.path, 'out'))
  })

  test('a broken configuration does not matter when the environment names the store', async () => {
    await using files = await createFixture({ 'gantry.yaml': '[' })
    expect(openProjectStore({ cwd: files.path, env: { AGENT_ARTIFACT_DIR: 's' } }).root).toBe(
      join(files.path, 's'),
    )
  })
})
