import { expect, test } from 'vitest'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { agentEnvironment } from './agent-environment.ts'

const agent: ResolvedAgent = {
  name: 'a',
  driver: { name: 'command', probe: async () => probe, run: () => Promise.reject(new Error('never')) },
  probe: { found: true, version: null, authenticated: null, fingerprint: '' },
  env: { OWN: '1' },
  inheritEnv: ['WANTED'],
  credentials: { SOME_KEY: 'k' },
  home: 'host',
  modelScript: null,
  meter: 'never',
}
const { probe } = agent
const host = {
  PATH: '/bin',
  HOME: '/home/me',
  XDG_STATE_HOME: '/home/me/state',
  WANTED: 'w',
  SECRET: 's',
  HARNESS_LOOP_THRESHOLD: '9',
  HARNESS_REQUIRE_PLAN_CHECK: 'true',
}
const places = { home: '/run/home', tmp: '/run/tmp' }

test('the agent uses the caller’s home and gets only the variables it needs', () => {
  const env = agentEnvironment({ agent, host, hasModelLink: false, ...places })
  expect(env).toMatchObject({
    HOME: '/home/me',
    XDG_STATE_HOME: '/home/me/state',
    OWN: '1',
    WANTED: 'w',
    SOME_KEY: 'k',
  })
  expect(env).not.toHaveProperty('SECRET')
})

test('its guard uses the caller’s settings and ledger, and does not require other tasks', () => {
  for (const home of ['host', 'isolated'] as const)
    expect(
      agentEnvironment({ agent: { ...agent, home }, host, hasModelLink: false, ...places }),
    ).toMatchObject({
      GANTRY_GUARD_HOME: '/home/me/state/gantry/guard',
      HARNESS_LOOP_THRESHOLD: '9',
      HARNESS_REQUIRE_PLAN_CHECK: 'false',
    })
})

test('an agent with its own home sees nothing of the caller’s home, and one behind the boundary no key', () => {
  const env = agentEnvironment({ agent: { ...agent, home: 'isolated' }, host, hasModelLink: true, ...places })
  expect(env).toMatchObject({
    HOME: '/run/home',
    TMPDIR: '/run/tmp',
    XDG_STATE_HOME: '/run/home/.local/state',
  })
  expect(env).not.toHaveProperty('SOME_KEY')
})
