import { expect, test } from 'vitest'
import type { AgentRequest } from '../contract.ts'
import { launchGemini, mergeSettings } from './launch.ts'
import { geminiAgentSchema } from './schema.ts'

const endpoint = { url: 'http://127.0.0.1:1/token', key: 'key-of-this-session' }

test('the prompt goes to stdin, whatever it is', () => {
  const prompt = '--version "x" $HOME\n'
  const { args, stdin } = launch({}, { prompt })
  expect(stdin).toBe(prompt)
  expect(args).not.toContain(prompt)
})

test('behind the boundary it signs in with the session key and uses a named model', () => {
  const { args, env, files = [] } = launch({}, { endpoint })
  expect(env).toMatchObject({ GEMINI_API_KEY: endpoint.key, GOOGLE_GEMINI_BASE_URL: endpoint.url })
  expect(args).toEqual([
    '--output-format',
    'stream-json',
    '--approval-mode',
    'yolo',
    '--model',
    'gemini-2.5-flash',
  ])
  expect(files.map(({ path }) => path)).toEqual(['/home/trial/.gemini/settings.json'])
  expect(settingsOf(files)).toMatchObject({
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    security: { auth: { selectedType: 'gemini-api-key' } },
  })
})

test('without the boundary neither key nor model is set', () => {
  const { args, env, files = [] } = launch({}, {})
  expect(args).not.toContain('--model')
  expect(Object.keys(env)).not.toContain('GEMINI_API_KEY')
  expect(settingsOf(files)).not.toHaveProperty('security.auth')
})

test("the user's settings override ours and keep the rest", () => {
  const settings = { general: { maxAttempts: 9 }, mcpServers: { docs: { command: 'docs' } } }
  const { files = [] } = launch({ settings }, { endpoint })
  expect(settingsOf(files)).toMatchObject({
    general: { maxAttempts: 9, enableAutoUpdate: false },
    mcpServers: { docs: { command: 'docs' } },
  })
})

test('in the home of the caller nothing is written, and settings without effect cause a warning', () => {
  const { files, warnings = [] } = launch({ home: 'host', settings: { a: 1 } }, { endpoint })
  expect(files).toEqual([])
  expect(warnings).toHaveLength(2)
  expect(launch({ home: 'host' }, {}).warnings).toEqual([])
})

test.each([
  [{ debug: true }, {}, '--debug'],
  [{ approval_mode: 'plan' }, {}, 'plan'],
  [{}, { model: 'gemini-3-pro' }, 'gemini-3-pro'],
])('%j and %j give %s', (config, request, word) => {
  expect(launch(config, request).args).toContain(word)
})

function settingsOf(files: readonly { readonly content: string }[]): unknown {
  return JSON.parse(files[0]?.content ?? 'null')
}

function launch(config: object, request: Partial<AgentRequest>) {
  return launchGemini(geminiAgentSchema.parse({ driver: 'gemini', ...config }), {
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

test('objects are merged, anything else is replaced', () => {
  const first = { a: { b: 1, c: { d: 2 } }, list: [1, 2], e: 'x' }
  const second = { a: { c: { f: 3 } }, list: [3], e: { g: 4 } }
  expect(mergeSettings(first, second)).toEqual({ a: { b: 1, c: { d: 2, f: 3 } }, list: [3], e: { g: 4 } })
})

test('a key that is special to JavaScript is a plain key', () => {
  const merged = mergeSettings({}, JSON.parse('{"__proto__":{"polluted":true}}'))
  expect(Object.keys(merged)).toEqual(['__proto__'])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})
