import { expect, test } from 'vitest'
import type { AgentRequest } from '../contract.ts'
import { launchCodex } from './launch.ts'
import { codexAgentSchema } from './schema.ts'

const endpoint = { url: 'http://127.0.0.1:1/token', key: 'key-of-this-session' }

test('the prompt goes to stdin, whatever it is', () => {
  const prompt = '--version "x" $HOME\n'
  const { args, stdin } = launch({}, { prompt })
  expect(stdin).toBe(prompt)
  expect(args.at(-1)).toBe('-')
})

test('behind the boundary the settings are in a file of the trial, with the key in neither file nor arguments', () => {
  const { args, env, files = [] } = launch({}, { endpoint })
  expect(env).toEqual({ CODEX_HOME: '/home/trial/.codex', GANTRY_MODEL_KEY: endpoint.key })
  expect(files).toEqual([
    {
      path: '/home/trial/.codex/config.toml',
      content: [
        'check_for_update_on_startup = false',
        'analytics.enabled = false',
        'projects."/work".trust_level = "trusted"',
        'model_provider = "gantry"',
        'model_providers.gantry.name = "gantry"',
        'model_providers.gantry.base_url = "http://127.0.0.1:1/token/v1"',
        'model_providers.gantry.env_key = "GANTRY_MODEL_KEY"',
        'model_providers.gantry.wire_api = "responses"',
        '',
      ].join('\n'),
    },
  ])
  expect(args).toEqual([
    'exec',
    '--json',
    '--skip-git-repo-check',
    '--disable',
    'plugins',
    '--dangerously-bypass-approvals-and-sandbox',
    '--dangerously-bypass-hook-trust',
    '--model',
    'gpt-5.5',
    '-',
  ])
})

test('in the home of the caller nothing is written: the settings are arguments', () => {
  const { args, files } = launch({ home: 'host', profile: 'mine' }, { endpoint })
  expect(files).toEqual([])
  expect(args).toContain('model_providers.gantry.base_url = "http://127.0.0.1:1/token/v1"')
  expect(args).toContain('mine')
})

test('a profile has no effect in an isolated home, and there is a warning', () => {
  const { args, warnings } = launch({ profile: 'mine' }, {})
  expect(args).not.toContain('mine')
  expect(warnings).toHaveLength(1)
})

test('without the boundary neither provider nor model is set', () => {
  const { args, env, files = [] } = launch({}, {})
  expect(args).not.toContain('--model')
  expect(env).toEqual({ CODEX_HOME: '/home/trial/.codex' })
  expect(files[0]?.content).not.toContain('model_provider')
})

test.each([
  [{ sandbox: 'read-only' }, ['--sandbox', 'read-only', '-c', 'approval_policy = "never"']],
  [
    { approval_policy: 'untrusted' },
    ['--sandbox', 'danger-full-access', '-c', 'approval_policy = "untrusted"'],
  ],
])('%j gives %j', (config, words) => {
  const { args } = launch(config, {})
  expect(args).toEqual(expect.arrayContaining(words))
  expect(args).not.toContain('--dangerously-bypass-approvals-and-sandbox')
})

test('additional settings come last, so that they win', () => {
  const { args } = launch(
    { config: { 'model_providers.gantry.request_max_retries': 0 }, home: 'host' },
    { endpoint },
  )
  expect(args.slice(-3)).toEqual(['-c', 'model_providers.gantry.request_max_retries = 0', '-'])
})

test.each([
  [{ reasoning_effort: 'high' }, {}, 'model_reasoning_effort = "high"'],
  [{}, { model: 'gpt-6-sol' }, 'gpt-6-sol'],
])('%j and %j give %s', (config, request, word) => {
  expect(launch(config, request).args).toContain(word)
})

test('unreviewed hooks are left out when the user wants that', () => {
  expect(launch({ trust_hooks: false }, {}).args).not.toContain('--dangerously-bypass-hook-trust')
})

function launch(config: object, request: Partial<AgentRequest>) {
  return launchCodex(codexAgentSchema.parse({ driver: 'codex', ...config }), {
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
