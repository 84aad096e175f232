import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterEach, expect, test } from 'vitest'
import { startError, validateStart } from './validate-start.ts'

const fixtures: FsFixture[] = []
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.rm()
})

const agentYaml =
  'verification:\n  container_image: none\n  steps:\n    - { name: check, command: "true" }\nmonorepo: { package: pkg }\n'

async function check(files: Record<string, string>, change: object = {}) {
  const fixture = await createFixture({ 'repo/pkg/a.ts': '', ...files })
  fixtures.push(fixture)
  return validateStart({
    repository: fixture.getPath('repo'),
    description: 'Fix the sum of two numbers.',
    agent: 'scripted:../editor.yaml',
    model: `scripted:${fixture.getPath('model.yaml')}`,
    sandbox: 'host',
    env: { PATH: process.env.PATH, HOME: fixture.path },
    signal: new AbortController().signal,
    ...change,
  })
}

const whole = {
  'repo/agent.yaml': agentYaml,
  'model.yaml': 'answers: [hello]\n',
  'editor.yaml': 'name: e\nturns: []\n',
}

test('a complete setup is ready, and a missing .git is only a warning', async () => {
  const ready = await check(whole)
  expect(ready).toMatchObject({
    kind: 'ready',
    agentFile: { file: { package: 'pkg' } },
    engine: { name: 'host' },
  })
  expect(ready.kind === 'ready' ? ready.warnings.join() : '').toContain('is not a git repository')
})

test.each([
  ['2.30.2', false],
  ['2.32.0', true],
  ['3.0.1 (Apple Git-1)', true],
])('git %s is reported if it is too old', async (version, isNew) => {
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo "git version ${version}"\nexit 0\n`
  const bin = await createFixture({ git: script })
  fixtures.push(bin)
  chmodSync(bin.getPath('git'), 0o755)
  const checked = await check(whole, { env: { PATH: `${bin.path}:${process.env.PATH}`, HOME: bin.path } })
  expect(checked.kind).toBe(isNew ? 'ready' : 'refused')
  if (checked.kind === 'refused')
    expect(checked.problems).toEqual([
      {
        what: 'repository',
        message: `git ${version} is too old: Gantry needs git 2.32 or newer`,
        hint: 'Install a newer git, and put it first on the PATH.',
      },
    ])
})

test('all problems are reported together', async () => {
  const refused = await check(
    { 'repo/gantry.yaml': 'agents: {}\n' },
    {
      description: ' ',
      agent: 'nobody',
      model: 'default',
      sandbox: 'docker',
      env: { PATH: '/nowhere', DOCKER_HOST: 'unix:///nowhere.sock' },
    },
  )
  if (refused.kind !== 'refused') throw new Error('it was ready')
  expect(refused.problems.map(({ what }) => what)).toEqual([
    'task',
    'agent.yaml',
    'model',
    'agent',
    'sandbox',
  ])
  const text = startError(refused.problems).message
  for (const part of [
    'blank',
    'configuration required',
    'cannot proceed without model access',
    'nobody',
    'docker',
  ])
    expect(text).toContain(part)
  expect(text).toContain('ANTHROPIC_API_KEY')
})

test('a missing model is reported once, without trailing blanks', async () => {
  const refused = await check({}, { agent: 'builtin', model: 'default' })
  if (refused.kind !== 'refused') throw new Error('it was ready')
  expect(refused.problems.map(({ what }) => what)).toEqual(['agent.yaml', 'model'])
  const text = startError(refused.problems).message
  expect(text.match(/ANTHROPIC_API_KEY/g)).toHaveLength(1)
  expect(text).not.toMatch(/ $/m)
})

test('without a usable sandbox each is listed with its fix, and none is recommended twice', async () => {
  const env = { PATH: '/nowhere', DOCKER_HOST: 'unix:///nowhere.sock' }
  const refused = await check(whole, { sandbox: 'auto', env })
  expect(refused).toMatchObject({ kind: 'refused', problems: [{ what: 'sandbox', hint: null }] })
})

test('a missing repository and a broken agent.yaml are reported with their location', async () => {
  const missing = await check({}, { repository: join('/', 'nowhere', 'at-all') })
  expect(missing).toMatchObject({ kind: 'refused', problems: [{ what: 'repository' }, { what: 'model' }] })
  const broken = await check({ ...whole, 'repo/agent.yaml': 'verification:\n  steps: []\n' })
  if (broken.kind !== 'refused') throw new Error('it was ready')
  expect(broken.problems).toHaveLength(1)
  expect(broken.problems[0]?.message).toMatch(/agent\.yaml:\d+/)
})

test('a repository in which git would block is refused', async () => {
  const fixture = await createFixture({ ...whole, 'repo/pkg/a.ts': '' })
  fixtures.push(fixture)
  execFileSync('mkfifo', [fixture.getPath('repo/.gitattributes')])
  const piped = await check(whole, { repository: fixture.getPath('repo') })
  expect(piped.kind === 'refused' ? piped.problems.map(({ message }) => message).join() : '').toContain(
    '.gitattributes is a pipe',
  )
})
