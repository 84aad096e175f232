import { expect, test } from 'vitest'
import { builtInPrices } from '../../models/prices.ts'
import { priceOf } from '../../models/pricing.ts'
import { agentModelName, apiModelName } from './model-names.ts'

test.each([
  ['default', 'default', 'default'],
  ['opus', 'anthropic:claude-opus-5-5', 'claude-opus-5-5'],
  ['sonnet', 'anthropic:claude-sonnet-5-5', 'claude-sonnet-5-5'],
  ['Haiku', 'anthropic:claude-haiku-5-5', 'claude-haiku-5-5'],
  ['claude-opus', 'anthropic:claude-opus-5-5', 'claude-opus-5-5'],
  ['sonnet[1m]', 'anthropic:claude-sonnet-5-5', 'claude-sonnet-5-5[1m]'],
  ['sonnet-4.5', 'anthropic:claude-sonnet-4-5', 'claude-sonnet-4-5'],
  ['opus-4', 'anthropic:claude-opus-4', 'claude-opus-4'],
  ['haiku-3.5', 'anthropic:claude-3-5-haiku', 'claude-3-5-haiku'],
  ['claude-sonnet-4-5-20250929', 'anthropic:claude-sonnet-4-5-20250929', 'claude-sonnet-4-5-20250929'],
  ['anthropic:opus-4.1', 'anthropic:claude-opus-4-1', 'claude-opus-4-1'],
  ['my-gateway-model', 'anthropic:my-gateway-model', 'my-gateway-model'],
  ['us.anthropic.claude-x-v1:0', 'anthropic:us.anthropic.claude-x-v1:0', 'us.anthropic.claude-x-v1:0'],
  ['openai:gpt-5', 'openai:gpt-5', null],
  ['scripted:a.yaml', 'scripted:a.yaml', null],
])('%s', (asked, api, agent) => {
  expect(apiModelName(asked)).toBe(api)
  expect(agentModelName(asked)).toBe(agent)
})

test('every alias has a price', () => {
  for (const alias of ['opus', 'sonnet', 'haiku', 'opus-4.5', 'sonnet-4.6', 'haiku-4.5', 'haiku-3.5'])
    expect(priceOf(apiModelName(alias), builtInPrices), alias).not.toBeNull()
})
