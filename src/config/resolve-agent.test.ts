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
