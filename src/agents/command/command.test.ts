import { chmodSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { probeCommand } from './command.ts'
import { commandAgentSchema } from './schema.ts'

const env = { PATH: process.env.PATH ?? '' }

test("a program is found on the agent's PATH, not on Gantry's", async () => {
  expect(await probe({ command: ['sh'] })).toMatchObject({ found: true, version: null, authenticated: null })
  const missing = await probe({ command: ['sh'] }, { PATH: '/nowhere' })
  expect(missing).toMatchObject({ found: false, problem: expect.stringContaining('not on the PATH') })
})

test('a program with a slash is relative to the configuration and must be executable', async () => {
  await using fixture = await createFixture({ 'agent.sh': '#!/bin/sh\n' })
  const command = ['./agent.sh']
  expect(await probe({ command }, env, fixture.path)).toMatchObject({
    found: false,
    problem: expect.stringContaining('not executable'),
  })
  chmodSync(fixture.getPath('agent.sh'), 0o755)
  expect(await probe({ command }, env, fixture.path)).toMatchObject({ found: true })
  expect(await probe({ command: ['./other.sh'] }, env, fixture.path)).toMatchObject({
    found: false,
    problem: expect.stringContaining('does not exist'),
  })
})

test('the version is the first line of the output of version_command', async () => {
  const ask = (script: string) => probe({ command: ['sh'], version_command: ['sh', '-c', script] })
  expect(await ask('echo; echo "agent 1.2"; echo more')).toMatchObject({ version: 'agent 1.2' })
  expect(await ask('echo 3.4 >&2')).toMatchObject({ version: '3.4' })
  expect(await ask('echo broken >&2; exit 2')).toMatchObject({
    found: true,
    version: null,
    problem: expect.stringContaining('exit code 2. broken'),
  })
})

test('the fingerprint depends on settings, version, and every file in the command', async () => {
  await using fixture = await createFixture({ 'agent.sh': 'one', 'plan.json': '{}' })
  const config = { command: ['sh', './agent.sh', 'plan.json', '{prompt}'] }
  const print = async (settings: object) => (await probe(settings, env, fixture.path)).fingerprint
  const first = await print(config)
  expect(await print(config)).toBe(first)
  const others = [
    await print({ ...config, env: { A: '1' } }),
    await print({ ...config, output: 'events' }),
    await print({ ...config, version_command: ['echo', '2'] }),
  ]
  await fixture.writeFile('agent.sh', 'two')
  others.push(await print(config))
  await fixture.writeFile('agent.sh', 'one')
  expect(await print(config)).toBe(first)
  await fixture.writeFile('plan.json', '[]')
  others.push(await print(config))
  expect(new Set([first, ...others]).size).toBe(6)
})

function probe(config: object, given: Record<string, string> = env, base = '/') {
  const parsed = commandAgentSchema.parse({ driver: 'command', ...config })
  return probeCommand({ name: 'mine', config: parsed, base }, { env: given })
}
