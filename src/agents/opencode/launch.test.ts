import { expect, test } from 'vitest'
import type { AgentRequest } from '../contract.ts'
import { launchOpencode } from './launch.ts'
import { opencodeAgentSchema } from './schema.ts'

const endpoint = { url: 'http://127.0.0.1:1/token', key: 'key-of-this-session' }

test('the prompt goes to stdin, whatever it is', () => {
  const prompt = '--version "x" $HOME\n'
  const { args, stdin } = launch({}, { prompt })
  expect(stdin).toBe(prompt)
  expect(args).not.toContain(prompt)
})

test('behind the boundary there is one provider, and no other address is contacted', () => {
  const { args, env, files } = launch({}, { endpoint })
  expect(configOf(env)).toMatchObject({
    provider: {
      gantry: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: 'http://127.0.0.1:1/token/v1', apiKey: endpoint.key },
      },
    },
    enabled_providers: ['gantry'],
    model: 'gantry/default',
    small_model: 'gantry/default',
    autoupdate: false,
    share: 'disabled',
  })
  expect(args).toContain('gantry/default')
  expect(env).toMatchObject({
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    npm_config_registry: 'http://127.0.0.1:1/token/npm/',
  })
  expect(files).toEqual([])
})

test.each([
  ['anthropic/claude-x', 'anthropic', '@ai-sdk/anthropic', '/v1'],
  ['openai/gpt-x', 'openai', '@ai-sdk/openai', '/v1'],
  ['google/gemini-x', 'google', '@ai-sdk/google', '/v1beta'],
])("%s keeps its provider's API format", (model, provider, npm, path) => {
  const config = configOf(launch({}, { endpoint, model }).env)
  expect(config).toMatchObject({
    model,
    provider: { [provider]: { npm, options: { baseURL: `${endpoint.url}${path}` } } },
  })
})

test('a model of an unknown provider keeps its full name', () => {
  const config = configOf(launch({}, { endpoint, model: 'meta/llama' }).env)
  expect(config).toMatchObject({
    model: 'gantry/meta/llama',
    provider: { gantry: { models: { 'meta/llama': {} } } },
  })
})

test('without the boundary the providers are those of the environment', () => {
  const { args, env } = launch({}, { model: 'openai/gpt-x' })
  expect(args).toContain('openai/gpt-x')
  expect(configOf(env)).not.toHaveProperty('provider')
  expect(Object.keys(env)).not.toContain('npm_config_registry')
})

test("the user's settings go into a file in the trial's home", () => {
  const { files } = launch({ config: { mcp: {} } }, { env: { HOME: '/h', XDG_CONFIG_HOME: '/h/x' } })
  expect(files).toEqual([{ path: '/h/x/opencode/opencode.json', content: '{\n  "mcp": {}\n}' }])
})

test('in the home of the caller nothing is written, and settings without effect cause a warning', () => {
  const { files, warnings } = launch({ home: 'host', config: { mcp: {} } }, {})
  expect(files).toEqual([])
  expect(warnings).toHaveLength(1)
})

test("opencode's own permission settings apply when the user wants that", () => {
  expect(configOf(launch({ approve: 'configured' }, {}).env)).not.toHaveProperty('permission')
  expect(configOf(launch({}, {}).env)).toHaveProperty('permission.bash', 'allow')
})

test.each([
  [{ agent: 'plan' }, 'plan'],
  [{ variant: 'high' }, 'high'],
])('%j gives %s', (config, word) => {
  expect(launch(config, {}).args).toContain(word)
})

function configOf(env: Readonly<Record<string, string>>): unknown {
  return JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? 'null')
}

function launch(config: object, request: Partial<AgentRequest>) {
  return launchOpencode(opencodeAgentSchema.parse({ driver: 'opencode', ...config }), {
    prompt: 'Do it.',
    workspace: '/work',
    model: 'default',
    env: { HOME: '/home/trial', TMPDIR: '/tmp/trial' },
    timeoutMs: 1_000,
    signal: new AbortController().signal,
    emit: () => {},
    transcript: () => {},
    ...request,
  })
}
