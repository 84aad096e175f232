import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { loadProject } from './load.ts'
import { resolveAgent } from './resolve-agent.ts'

const yaml = `
agents:
  unsaid: { driver: command, command: [sh] }
  apart: &apart { driver: command, command: [sh], home: isolated }
  alias: *apart
  mine: { driver: command, command: [sh], home: host }
`

async function homeOf(name: string, homeUnlessSaid?: 'host') {
  await using fixture = await createFixture({ 'gantry.yaml': yaml, 'script.yaml': 'name: x\nturns: []\n' })
  const env = { PATH: process.env.PATH ?? '' }
  const agent = await resolveAgent(name, {
    project: loadProject(fixture.path),
    cwd: fixture.path,
    env,
    probeEnv: env,
    signal: new AbortController().signal,
    ...(homeUnlessSaid !== undefined && { homeUnlessSaid }),
  })
  return agent.home
}

test('an agent has an isolated home by default', async () => {
  for (const name of ['unsaid', 'apart', 'alias', 'builtin', 'scripted:script.yaml'])
    expect(await homeOf(name), name).toBe('isolated')
  expect(await homeOf('mine')).toBe('host')
})

test('the caller may choose another default home for agents that do not set one', async () => {
  for (const name of ['unsaid', 'mine', 'builtin', 'scripted:script.yaml'])
    expect(await homeOf(name, 'host'), name).toBe('host')
  for (const name of ['apart', 'alias']) expect(await homeOf(name, 'host'), name).toBe('isolated')
})

const variants = `
agents:
  mine: { driver: command, command: [sh], home: host, env: { A: '1', B: '2' } }
arms:
  base: { agent: mine }
  loud: { agent: mine, env: { B: '3', C: '4' } }
  apart: { agent: mine, home: isolated, guard: { middleware: { loop_detection: { enabled: false } } }, overlay: docs }
  typed: { agent: mine, comand: [sh] }
  nowhere: { agent: mine, overlay: no-such }
  driven: { agent: mine, driver: codex }
`

async function armOf(name: string) {
  await using fixture = await createFixture({ 'gantry.yaml': variants, 'docs/AGENTS.md': 'x' })
  const env = { PATH: process.env.PATH ?? '' }
  return await resolveAgent(name, {
    project: loadProject(fixture.path),
    cwd: fixture.path,
    env,
    probeEnv: env,
    signal: new AbortController().signal,
  })
}

test('an arm is its agent with other keys', async () => {
  expect(await armOf('base')).toMatchObject({
    name: 'base',
    home: 'host',
    env: { A: '1', B: '2' },
    arm: { overlay: null, guard: null },
  })
  expect((await armOf('loud')).env).toEqual({ A: '1', B: '3', C: '4' })
  expect(await armOf('apart')).toMatchObject({
    home: 'isolated',
    arm: {
      overlay: expect.stringContaining('docs'),
      guard: { middleware: { loop_detection: { enabled: false } } },
    },
  })
})

test.each([
  ['typed', ":8:33: arm 'typed': 'mine' has no key 'comand', did you mean 'command'?"],
  ['nowhere', 'no-such is not a directory'],
  ['driven', 'an arm keeps the driver of its agent'],
])('the arm %s is refused where the file has it', async (name, message) => {
  await expect(armOf(name)).rejects.toThrow(message)
})

test.each([
  ['agents: { x: { driver: builtin } }\narms: { x: { agent: x } }', 'arms.x: is also the name of an agent'],
  ['arms: { x: { agent: builtin }, y: { agent: x } }', 'arms.y.agent: names an arm instead of an agent'],
  ['arms: { x: { agent: builtin, guard: { nonsense: 1 } } }', "unknown key 'nonsense'"],
])('%s is refused', async (text, message) => {
  await using fixture = await createFixture({ 'gantry.yaml': text })
  expect(() => loadProject(fixture.path)).toThrow(message)
})
