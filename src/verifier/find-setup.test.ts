import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sandboxEngines } from '../sandboxes/index.ts'
import { findSetup } from './open-phases.ts'

let repository = ''
beforeEach(() => {
  repository = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-find-setup-')))
  mkdirSync(join(repository, 'src'))
})
afterEach(() => rmSync(repository, { recursive: true, force: true }))

async function layerOf(command: string, source: string): Promise<string> {
  writeFileSync(join(repository, 'src/add.py'), source)
  const config = {
    image: 'i',
    setup: [{ name: 's', command, timeoutMs: 1 }],
    steps: [],
    workspace: 'overlay' as const,
    network: 'none' as const,
    limits: { memoryBytes: 1, cpus: 1, pids: 1, diskBytes: 1 },
    env: {},
    caches: [],
  }
  const request = { config, repository, engine: sandboxEngines.bubblewrap }
  return (await findSetup(request, join(repository, '..', 'caches'))).own
}

test.each([
  'python3 -m venv .venv && .venv/bin/pip install .',
  "pip install '.[test]' pytest",
  'uv pip install --system ./',
  'cargo install --path .',
  'go install ./cmd/...',
  'python setup.py install',
  'make && make install',
])('%s copies the sources, so a change of them needs another layer', async (command) => {
  expect(await layerOf(command, 'one')).not.toBe(await layerOf(command, 'two'))
})

test.each([
  'python3 -m venv .venv && .venv/bin/pip install -e .',
  "pip install -r ./requirements.txt --editable '.[test]'",
  'npm install',
  'bundle config set --local path vendor/bundle && bundle install',
])('%s does not copy them', async (command) => {
  expect(await layerOf(command, 'one')).toBe(await layerOf(command, 'two'))
})
