import { chmodSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { loadProject } from '../config/load.ts'
import { readAgentFile } from '../verifier/agent-file.ts'
import type { CliContext } from './context.ts'
import { runInit } from './init.ts'

async function init(
  files: Record<string, string>,
  flags: Parameters<typeof runInit>[0] = {},
  file?: Parameters<typeof runInit>[2],
) {
  const fixture = await createFixture(files)
  onTestFinished(() => fixture.rm())
  return { fixture, ...(await say(fixture, flags, file)) }
}

async function say(
  fixture: FsFixture,
  flags: Parameters<typeof runInit>[0],
  file?: Parameters<typeof runInit>[2],
) {
  const parts: string[] = []
  const exitCodes: number[] = []
  const stdout = { write: (part: string) => void parts.push(part), isTTY: false, columns: 80, color: false }
  const context: CliContext = {
    cwd: fixture.path,
    env: { PATH: join(fixture.path, 'bin') },
    stdout,
    stderr: stdout,
    signal: new AbortController().signal,
    setExitCode: (code) => void exitCodes.push(code),
  }
  await runInit({ try: false, ...flags }, context, file)
  return { text: parts.join(''), exitCodes }
}

test('writes a file that the Verifier can read, with the commands of the project', async () => {
  const { fixture, text } = await init({
    'package.json': '{"scripts": {"test": "vitest run", "lint": "biome check"}}',
    'AGENTS.md': '# Testing\n\n```sh\nnpm run typecheck\n```\n',
  })
  const { file } = readAgentFile(fixture.path)
  expect(file.verification).toMatchObject({ image: 'node:24', workspace: 'overlay', network: 'none' })
  expect(file.verification.steps.map(({ command }) => command)).toContain('npm test')
  expect(new Set(file.verification.steps.map(({ name }) => name)).size).toBe(file.verification.steps.length)
  expect(text).toContain('agent.yaml: node:24\n')
})

test.each([
  [{ 'pytest.ini': '' }, 'python:3.13', ['pytest']],
  [{ 'Cargo.toml': '' }, 'rust:1', ['cargo test']],
  [{ Makefile: 'test:\n\ttrue\n' }, 'gcc:14', ['make test']],
])('the toolchain determines the image: %j', async (files, image, commands) => {
  const { fixture } = await init(files as Record<string, string>)
  const { verification } = readAgentFile(fixture.path).file
  expect(verification.image).toBe(image)
  expect(verification.steps.map(({ command }) => command)).toEqual(commands)
})

test.each([
  [
    { 'package.json': '{"workspaces": ["a"]}', 'a/package.json': '{"scripts": {"test": "vitest"}}' },
    ['npm install', 'npm test --workspaces --if-present'],
  ],
  [
    { 'CMakeLists.txt': 'enable_testing()\n' },
    ['cmake -S . -B build && cmake --build build', 'ctest --test-dir build'],
  ],
  [
    {
      'web/package.json': '{"scripts": {"test": "node --test"}}',
      'core/Cargo.toml': '',
      'docs/package.json': '{}',
    },
    ['cd core && cargo test', 'cd web && npm test'],
  ],
  [
    {
      'package.json': '{"scripts": {"test": "node --test"}}',
      '.github/workflows/ci.yml':
        'jobs:\n  lint:\n    steps:\n      - name: build\n        run: npm run build\n      - run: |\n          npm test\n          shellcheck run.sh\n          eslint $FILES\n          docker build .\n',
    },
    ['npm run build', 'npm test', 'shellcheck run.sh'],
  ],
])('what is installed, built and checked in %j: %j', async (files, commands) => {
  const { fixture } = await init(files as unknown as Record<string, string>)
  const { setup = [], steps } = readAgentFile(fixture.path).file.verification
  expect([...setup, ...steps].map(({ command }) => command)).toEqual(commands)
})

test('a project without a command gets a step that fails until one is written', async () => {
  const { fixture, text, exitCodes } = await init({ 'notes.txt': '' })
  expect(readAgentFile(fixture.path).file.verification.steps[0]?.command).toContain('exit 1')
  expect(text).toContain('No verification command was found')
  expect(exitCodes).toEqual([1])
})

test('an existing file or link is kept; --print writes nothing and accepts another image', async () => {
  const { fixture, text } = await init({ 'agent.yaml': 'mine' }, { print: true, image: 'mine:1' })
  expect(text).toContain('container_image: mine:1')
  expect(readFileSync(fixture.getPath('agent.yaml'), 'utf8')).toBe('mine')
  await expect(say(fixture, {})).rejects.toThrow('exists already')
  const linked = await createFixture({})
  onTestFinished(() => linked.rm())
  symlinkSync('/nonexistent/x', linked.getPath('agent.yaml'))
  await expect(say(linked, {})).rejects.toThrow('exists already')
})

test('a path that is not a directory is reported', async () => {
  await expect(init({}, { root: 'nowhere' })).rejects.toThrow('is not a directory')
})

test('says which file it wrote, and offers gantry.yaml too', async () => {
  const { fixture, text } = await init({ 'notes.txt': '' })
  expect(text).toContain(`Wrote ${join(fixture.path, 'agent.yaml')}`)
  expect(text).toContain('gantry init gantry.yaml')
})

test('writes a gantry.yaml that loads, with the agents on PATH', async () => {
  const { fixture, text } = await init({ 'bin/claude': '#!/bin/sh\n', 'bin/codex': '' }, {}, 'gantry.yaml')
  const empty = loadProject(fixture.path)
  expect(text).toContain(`Wrote ${join(fixture.path, 'gantry.yaml')}: no agent was found on PATH`)
  expect(empty.config).toMatchObject({ agents: {}, scenarios: ['scenarios/**/*.yaml'] })
  rmSync(join(fixture.path, 'gantry.yaml'))
  chmodSync(join(fixture.path, 'bin/claude'), 0o755)
  expect((await say(fixture, {}, 'gantry.yaml')).text).toContain('agents on PATH: claude\n')
  expect(Object.keys(loadProject(fixture.path).config.agents)).toEqual(['claude'])
  await expect(say(fixture, {}, 'gantry.yaml')).rejects.toThrow('exists already')
  await expect(say(fixture, { image: 'x' }, 'gantry.yaml')).rejects.toThrow('--image has no meaning')
})
