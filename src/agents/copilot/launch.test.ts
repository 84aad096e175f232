import { expect, test } from 'vitest'
import type { AgentRequest } from '../contract.ts'
import { launchCopilot } from './launch.ts'
import { copilotAgentSchema } from './schema.ts'

const endpoint = { url: 'http://127.0.0.1:1/token', key: 'key-of-this-session' }

test('the prompt goes to stdin, whatever it is', () => {
  const prompt = '--version "x" $HOME\n'
  const { args, stdin } = launch({}, { prompt })
  expect(stdin).toBe(prompt)
  expect(args).not.toContain(prompt)
})

test('behind the boundary Copilot is offline and has no other provider', () => {
  const { env, args } = launch({}, { endpoint, model: 'gpt-5.1' })
  expect(env).toMatchObject({
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_PROVIDER_BASE_URL: 'http://127.0.0.1:1/token/v1',
    COPILOT_PROVIDER_API_KEY: endpoint.key,
    COPILOT_PROVIDER_WIRE_API: 'completions',
    COPILOT_MODEL: 'gpt-5.1',
  })
  expect(args.join(' ')).not.toContain(endpoint.key)
})

test.each([
  [{}, 'claude-sonnet-4', { COPILOT_PROVIDER_TYPE: 'anthropic', COPILOT_PROVIDER_BASE_URL: endpoint.url }],
  [{ model_api: 'openai-responses' }, 'claude-x', { COPILOT_PROVIDER_WIRE_API: 'responses' }],
  [{}, 'default', { COPILOT_PROVIDER_WIRE_MODEL: 'gpt-4.1', COPILOT_PROVIDER_MAX_PROMPT_TOKENS: '1000000' }],
])('with %j the model %s is used as %j', (config, model, env) => {
  expect(launch(config, { endpoint, model }).env).toMatchObject(env)
})

test('without the boundary the model is an argument and nothing is offline', () => {
  const { env, args } = launch({}, { model: 'gpt-5.1' })
  expect(args).toContain('gpt-5.1')
  expect(env).toEqual({ COPILOT_AUTO_UPDATE: 'false', COPILOT_PKG_CACHE_HOME: '/cache' })
})

test('the base of relative paths is the configuration', () => {
  const { env, args } = launch({ plugins: ['./mine', '/abs'], package_cache: 'cache' }, {})
  expect(args.slice(-4)).toEqual(['--plugin-dir', '/project/mine', '--plugin-dir', '/abs'])
  expect(env.COPILOT_PKG_CACHE_HOME).toBe('/project/cache')
})

test.each([
  [{ allow: 'all' }, '--allow-all'],
  [{}, '--allow-all-tools'],
  [{}, '--trust-folder'],
  [{ agent: 'reviewer' }, 'reviewer'],
  [{ reasoning_effort: 'high' }, '--reasoning-effort'],
])('%j gives %s', (config, word) => {
  expect(launch(config, {}).args).toContain(word)
})

test('an untrusted folder stays untrusted', () => {
  expect(launch({ trust_folder: false }, {}).args).not.toContain('--trust-folder')
})

function launch(config: object, request: Partial<AgentRequest>) {
  return launchCopilot(copilotAgentSchema.parse({ driver: 'copilot', ...config }), requestOf(request), {
    base: '/project',
    isRoot: false,
    cache: '/cache',
  })
}

function requestOf(request: Partial<AgentRequest>): AgentRequest {
  return {
    prompt: 'Do it.',
    workspace: '/work',
    model: 'default',
    env: { HOME: '/home/trial', TMPDIR: '/tmp/trial' },
    timeoutMs: 1_000,
    signal: new AbortController().signal,
    emit: () => {},
    transcript: () => {},
    ...request,
  }
}
