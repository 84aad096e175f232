import { expect, test } from 'vitest'
import { fromLlmToolTest } from './convert-config.ts'

test('a tool that is left out is in no profile, and a profile without another tool is left out', () => {
  const { config, notes } = fromLlmToolTest(
    {
      tools: { 'claude-code': {}, mock: { models: ['fake'] } },
      profiles: {
        quick: { tools: ['claude-code', 'mock'], models: ['sonnet'] },
        dry: { tools: ['mock'], models: ['sonnet'] },
      },
    },
    'llm-tool-test-config.toml',
    'fixtures',
  )
  expect(config).toMatchObject({ profiles: { quick: { agents: ['claude-code'], models: ['sonnet'] } } })
  expect(config).not.toHaveProperty('profiles.dry')
  expect(notes.join('\n')).toContain('profiles.quick: mock is left out here too.')
  expect(notes.join('\n')).toContain('profiles.dry is left out: it has only mock.')
  expect(notes.join('\n')).not.toContain('agents.mock.models')
})
