import { describe, expect, test } from 'vitest'
import { isAuthenticated } from '../cli/probe.ts'
import type { AgentRequest, SessionRequest } from '../contract.ts'
import { claudeCode } from './claude-code.ts'
import { launch, liveLaunch } from './launch.ts'
import { claudeCodeSchema } from './schema.ts'

describe('the command line of Claude Code', () => {
  test('is headless, streams with hook events, and has the prompt on stdin', () => {
    const { args, stdin, warnings } = start({}, { prompt: '--help' })
    expect(args.join(' ')).toBe(
      '--print --dangerously-skip-permissions --output-format stream-json --include-hook-events --verbose',
    )
    expect(stdin).toBe('--help')
    expect(warnings).toEqual([])
  })

  test('has every setting, paths relative to the configuration, and no list option that could consume later arguments', () => {
    const { args } = start(
      {
        permission_mode: 'acceptEdits',
        plugins: ['one', './two'],
        settings: 'settings.json',
        setting_sources: ['user', 'project'],
        mcp_config: ['mcp.json'],
        strict_mcp_config: true,
        allowed_tools: ['Bash(git *)', 'Edit'],
        disallowed_tools: ['WebFetch'],
        agents: { helper: { description: 'helps', prompt: 'Help.' } },
        system_prompt: '- own',
        append_system_prompt: '- more',
        effort: 'low',
        fallback_model: 'small',
        resume: 'abc',
        add_dirs: ['../lib'],
      },
      { model: 'big' },
    )
    expect(args).toEqual([
      '--print',
      '--allowedTools',
      'Bash(git *)',
      'Edit',
      '--disallowedTools',
      'WebFetch',
      '--add-dir',
      '/lib',
      '--mcp-config',
      '/base/mcp.json',
      '--strict-mcp-config',
      '--plugin-dir',
      '/base/one',
      '--plugin-dir',
      '/base/two',
      '--settings',
      '/base/settings.json',
      '--setting-sources=user,project',
      '--agents',
      '{"helper":{"description":"helps","prompt":"Help."}}',
      '--permission-mode',
      'acceptEdits',
      '--system-prompt',
      '- own',
      '--append-system-prompt',
      '- more',
      '--model',
      'big',
      '--fallback-model',
      'small',
      '--effort',
      'low',
      '--resume',
      'abc',
      '--output-format',
      'stream-json',
      '--include-hook-events',
      '--verbose',
    ])
    expect(start({ setting_sources: [] }).args).toContain('--setting-sources=')
    expect(start({ settings: { env: { A: '1' } } }).args).toContain('{"env":{"A":"1"}}')
  })

  test('has the lower of two limits', () => {
    const limits = (config: object, request: Partial<AgentRequest>) =>
      start(config, request).args.filter((_, at, all) => /^--max/.test(all[at - 1] ?? ''))
    expect(limits({ max_turns: 3 }, { maxTurns: 5, maxCostUsd: 0.5 })).toEqual(['3', '0.5'])
    expect(limits({ max_turns: 3, max_budget_usd: 2 }, { maxTurns: 2, maxCostUsd: 3 })).toEqual(['2', '2'])
    expect(limits({}, {})).toEqual([])
  })

  test('warns about a session that cannot exist', () => {
    expect(start({ resume: 'abc' }).warnings).toEqual([expect.stringContaining('home: host')])
    expect(start({ resume: 'abc', home: 'host' }).warnings).toEqual([])
  })

  test.each([
    { allowed_tools: ['--help'] },
    { resume: '-c' },
    { permission_mode: 'manual' },
    { plugin: ['x'] },
  ])('refuses %j', (config) => {
    expect(claudeCodeSchema.safeParse({ driver: 'claude-code', ...config }).success).toBe(false)
  })
})

describe('the environment of Claude Code', () => {
  test('a run as root without permissions needs the sandbox variable', () => {
    expect(start({}, {}, true).env.IS_SANDBOX).toBe('1')
    expect(start({}, {}, false).env.IS_SANDBOX).toBeUndefined()
    expect(start({ permission_mode: 'plan' }, {}, true).env.IS_SANDBOX).toBeUndefined()
  })

  test('variables set by the user stay', () => {
    const env = { TMPDIR: '/t', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '0', CLAUDE_CODE_TMPDIR: '/mine' }
    expect(start({}, { env }).env).toEqual({ DISABLE_AUTOUPDATER: '1' })
    expect(start({}, { env: { TMPDIR: '/t' } }).env.CLAUDE_CODE_TMPDIR).toBe('/t')
  })

  test('behind the boundary all other providers are disabled', () => {
    const endpoint = { url: 'http://127.0.0.1:1/token', key: 'k' }
    const env = { CLAUDE_CODE_USE_BEDROCK: '1', ANTHROPIC_BASE_URL: 'http://elsewhere' }
    expect(start({}, { endpoint, env }).env).toMatchObject({
      ANTHROPIC_BASE_URL: endpoint.url,
      ANTHROPIC_API_KEY: 'k',
      CLAUDE_CODE_USE_BEDROCK: '0',
    })
  })

  test('it is authenticated with a key or a token, not with an address alone, and a login in HOME cannot be seen', () => {
    const config = { home: 'host', env: {}, inherit_env: [] } as const
    const ask = (name: string, value = 'x') => isAuthenticated(claudeCode, config, { [name]: value })
    expect(
      ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'].map((name) => ask(name)),
    ).toEqual([true, true, true])
    expect([ask('ANTHROPIC_BASE_URL'), ask('ANTHROPIC_API_KEY', '')]).toEqual([null, null])
  })
})

function start(config: object, request: Partial<AgentRequest> = {}, isRoot = false) {
  return launch(
    claudeCodeSchema.parse({ driver: 'claude-code', ...config }),
    {
      prompt: 'do it',
      workspace: '/workspace',
      model: 'default',
      env: {},
      timeoutMs: 1_000,
      signal: new AbortController().signal,
      emit: () => {},
      transcript: () => {},
      ...request,
    },
    { base: '/base', isRoot, cache: '/cache' },
  )
}

const config = claudeCodeSchema.parse({ driver: 'claude-code', plugins: ['./demo'], max_turns: 9 })
const place = { base: '/base', isRoot: false, cache: '/cache' }
const request: SessionRequest = {
  workspace: '/w',
  model: 'opus',
  env: {},
  timeoutMs: 1_000,
  maxTurns: 5,
  maxCostUsd: 2,
  signal: new AbortController().signal,
  emit: () => {},
  transcript: () => {},
}

test('a session starts like a single prompt, with JSON lines as input', () => {
  const live = liveLaunch(config, request, place)
  const once = launch(config, { ...request, prompt: 'p' }, place)
  expect(live.args).toEqual([...once.args, '--input-format', 'stream-json'])
  expect(live).not.toHaveProperty('stdin')
  expect(live.env).toEqual({ ...once.env, CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: '1' })
})

test('the user can disable copies of files', () => {
  const env = { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: '0' }
  expect(liveLaunch(config, { ...request, env }, place).env).not.toHaveProperty(
    'CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING',
  )
})
