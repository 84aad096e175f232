import { expect, test } from 'vitest'
import { sandboxNames } from './contract.ts'
import { chooseEngine, probeEngines, sandboxEngines } from './index.ts'

const nothing = { env: { PATH: '/nowhere', DOCKER_HOST: 'unix:///nowhere/docker.sock', HOME: '/nowhere' } }

test('every name has its engine', () => {
  for (const name of sandboxNames) expect(sandboxEngines[name].name).toBe(name)
})

test('auto never chooses the host: without a sandbox it fails with a fix for each engine', async () => {
  const chosen = await chooseEngine('auto', nothing)
  if (!('failure' in chosen)) throw new Error(`chose ${chosen.name}`)
  expect(chosen.failure.type).toBe('docker_unavailable')
  expect(chosen.failure.message).toMatch(
    /docker: .*\(try: .*docker.*bubblewrap: .*\(try: sudo apt-get install bubblewrap\)/s,
  )
})

test('an engine requested by name is returned, usable or not', async () => {
  for (const name of sandboxNames) expect(await chooseEngine(name, nothing)).toBe(sandboxEngines[name])
})

test('auto takes bubblewrap where there is no Docker', async () => {
  const env = { ...nothing.env, PATH: process.env.PATH ?? '' }
  const [, bubblewrap] = await probeEngines({ env })
  const chosen = await chooseEngine('auto', { env })
  expect('failure' in chosen ? null : chosen.name).toBe(bubblewrap?.usable === true ? 'bubblewrap' : null)
})

test('the host is not probed', async () => {
  expect((await probeEngines(nothing)).map(({ engine }) => engine)).toEqual(['docker', 'bubblewrap'])
})
