import { expect, test } from 'vitest'
import { madeUpWorld } from '../../../test/support/made-up-world.ts'
import { claudeCodeCodec } from '../../agents/claude-code/hooks.ts'
import type { HookEvent } from '../../core/hook-event.ts'
import { hasOurRights } from './has-our-rights.ts'

const root = '/home/ada/shop'
const home = '/home/ada'
const enabled = JSON.stringify({ sandbox: { enabled: true } })
const event: HookEvent = {
  ...{ kind: 'session_end', agent: 'claude-code', session: 's', cwd: root, root },
  ...{ agentId: null, agentType: null, promptId: null, reason: 'exit' },
}

function judge(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}): boolean {
  const world = madeUpWorld({ files }, { home, own: [], env })
  return hasOurRights({ traits: claudeCodeCodec.traits, world, event })
}

test('where no settings enable a sandbox, the guard may run what the agent may run', () => {
  expect(judge({})).toBe(true)
  expect(judge({ [`${root}/.claude/settings.json`]: '{"sandbox":{"enabled":false}}' })).toBe(true)
  expect(judge({ [`${home}/.claude/settings.json`]: '' })).toBe(true)
})

test.each([
  `${root}/.claude/settings.json`,
  `${root}/.claude/settings.local.json`,
  `${home}/.claude/settings.json`,
  '/etc/claude-code/managed-settings.json',
  '/etc/claude-code/managed-settings.d/10-team.json',
])('a sandbox in %s confines the agent, so the guard runs nothing for it', (path) => {
  expect(judge({ [path]: enabled })).toBe(false)
})

test('the directory of CLAUDE_CONFIG_DIR replaces the one in the home', () => {
  const env = { CLAUDE_CONFIG_DIR: '/home/ada/other' }
  expect(judge({ '/home/ada/other/settings.json': enabled }, env)).toBe(false)
  expect(judge({ [`${home}/.claude/settings.json`]: enabled }, env)).toBe(true)
})

test('settings that cannot be read may enable a sandbox', () => {
  expect(judge({ [`${root}/.claude/settings.json`]: '{"sandbox":' })).toBe(false)
})

test('of an agent whose settings are not known nothing is run', () => {
  const world = madeUpWorld({ files: {} }, { home, own: [] })
  expect(hasOurRights({ traits: {}, world, event })).toBe(false)
})
