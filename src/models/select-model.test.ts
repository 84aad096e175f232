import { expect, test } from 'vitest'
import { defaultModels, modelAccess, selectModel } from './select-model.ts'

const all = { AGENT_LLM_BASE_URL: 'http://localhost:1/v1', ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' }

test('a custom endpoint comes before Anthropic, and Anthropic before OpenAI', () => {
  expect(selectModel({ ...all, AGENT_LLM_MODEL: 'mine' })).toBe('openai-compatible:mine')
  expect(selectModel({ ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' })).toBe(
    `anthropic:${defaultModels.anthropic}`,
  )
  expect(selectModel({ OPENAI_API_KEY: 'o' })).toBe(`openai:${defaultModels.openai}`)
  expect(selectModel({})).toBeNull()
})

test('AGENT_LLM_MODEL names the model of the chosen provider, and a blank variable counts as not set', () => {
  expect(selectModel({ ANTHROPIC_API_KEY: 'a', AGENT_LLM_MODEL: 'claude-opus-5-5' })).toBe(
    'anthropic:claude-opus-5-5',
  )
  expect(selectModel({ ANTHROPIC_API_KEY: ' ', OPENAI_API_KEY: 'o', AGENT_LLM_MODEL: '' })).toBe(
    `openai:${defaultModels.openai}`,
  )
})

test('an endpoint without a model is an error, because its models are unknown', () => {
  expect(() => selectModel(all)).toThrow('AGENT_LLM_MODEL')
})

test('access is reported per provider, with the variable that gives it, and never with a key', () => {
  expect(modelAccess({ GEMINI_API_KEY: 'secret', OPENAI_API_KEY: 'secret' })).toEqual([
    { provider: 'openai-compatible', usable: false, detail: 'set AGENT_LLM_BASE_URL' },
    { provider: 'anthropic', usable: false, detail: 'set ANTHROPIC_API_KEY' },
    { provider: 'openai', usable: true, detail: 'OPENAI_API_KEY is set' },
    { provider: 'google', usable: true, detail: 'GEMINI_API_KEY is set' },
  ])
})
