import { readFileSync, symlinkSync } from 'node:fs'
import { createFixture, type FsFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { readAgentFile } from '../verifier/agent-file.ts'
import type { CliContext } from './context.ts'
import { runInit } from './init.ts'

async function init(files: Record<string, string>, flags: Parameters<typeof runInit>[0] = {}) {
  const fixture = await createFixture(files)
  onTestFinished(() => fixture.rm())
  return { fixture, ...(await say(fixture, flags)) }
}

async function say(fixture: FsFixture, flags: Parameters<typeof runInit>[0]) {
  const parts: string[] = []
  const stdout = { write: (part: string) => void parts.push(part), isTTY: false, columns: 80, color: false }
  const context: CliContext = {
    cwd: fixture.path,
    env: {},
    stdout,
    stderr: stdout,
    signal: new AbortController().signal,
    setExitCode: () => {},
  }
  await runInit(flags, context)
  return { text: parts.join('') }
}

test('the file it writes is one the Verifier reads, with the commands of the project in a writable copy', async () => {
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
])('the image follows from the toolchain: %j', async (files, image, commands) => {
  const { fixture } = await init(files as Record<string, string>)
  const { verification } = readAgentFile(fixture.path).file
  expect(verification.image).toBe(image)
  expect(verification.steps.map(({ command }) => command)).toEqual(commands)
})

test('a project without any command gets a step that fails until somebody writes one', async () => {
  const { fixture, text } = await init({ 'notes.txt': '' })
  expect(readAgentFile(fixture.path).file.verification.steps[0]?.command).toContain('exit 1')
  expect(text).toContain('No verification command was found')
})

test('a file that is there stays, a link too; --print writes nothing and takes another image', async () => {
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
