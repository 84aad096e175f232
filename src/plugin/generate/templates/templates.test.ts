import { expect, test } from 'vitest'
import {
  sampleAgent,
  sampleAnalysis,
  sampleCommand,
  sampleHook,
  sampleServer,
  sampleSkill,
} from '../../../../test/support/sample-analysis.ts'
import type { HookComponent } from '../../analyze/contract.ts'
import { commandTemplates, hintValues, hookTemplates, skillTemplates } from '../template-component.ts'
import { mcpTemplates } from './mcp-templates.ts'
import type { HookSurroundings } from './tool-event-requests.ts'

test.each([
  ['[file]', ['test-file.ts']],
  ['<filename> [options]', ['test-file.ts', '--verbose']],
  ['<dir> <path>', ['./src', './src']],
  ['[url] <name> [id] <count>', ['https://example.com', 'test-name', '123', '42']],
  ['[issueNumber]', ['42']],
  ['<user_name>', ['test-name']],
  ['<video>', ['test-value']],
  ['[--fix]', ['--fix']],
  ['[on|off]', ['on']],
  ['message', ['test-value']],
  ['the file to read', ['test-file.ts']],
  ['[]', []],
])('the hint %j becomes %j', (hint, values) => {
  expect(hintValues(hint)).toEqual({ kind: 'values', values })
})

test('a hint of more than a thousand characters is refused', () => {
  expect(hintValues('[x]'.repeat(400)).kind).toBe('refused')
  expect(hintValues('['.repeat(1_000)).kind).toBe('values')
})

test('a command is typed once, with arguments when it has a hint, and stays quiet for an unrelated request', () => {
  const { scenarios } = commandTemplates(
    sampleCommand('deploy/staging', { argument_hint: '<file> [options]' }),
  )
  expect(
    scenarios.map(({ suffix, user_prompt, expected_trigger }) => [suffix, user_prompt, expected_trigger]),
  ).toEqual([
    ['basic', '/demo:deploy:staging test-file.ts --verbose', true],
    ['negative-1', 'What is the capital of Australia?', false],
  ])
  expect(commandTemplates(sampleCommand('x')).scenarios[0]?.user_prompt).toBe('/demo:x')
})

test('what users say according to a command is requested in their words, and what it is not for is a negative', () => {
  const said = { triggers: ['find bugs', '/other'], negative_triggers: ['write a test'] }
  const prompts = (more = {}) =>
    commandTemplates(sampleCommand('x', { ...said, ...more })).scenarios.map(
      ({ suffix, user_prompt, expected_trigger }) => [suffix, user_prompt, expected_trigger],
    )
  expect(prompts()).toEqual([
    ['basic', '/demo:x', true],
    ['direct-1', 'find bugs', true],
    ['negative-1', 'What is the capital of Australia?', false],
    ['negative-2', 'write a test', false],
  ])
  expect(prompts({ disable_model_invocation: true })).toHaveLength(2)
})

test('every file a command refers to is in the workspace', () => {
  for (const { user_prompt, expected_file_references = [], files = {} } of commandTemplates(
    sampleCommand('x', { argument_hint: '[file] [dir]' }),
  ).scenarios) {
    const named = [...user_prompt.matchAll(/@(\S+)/g)].map(([, path]) => path)
    expect(expected_file_references).toEqual(named)
    for (const path of named) expect(files).toHaveProperty([path ?? ''])
    if (user_prompt.includes('test-file.ts')) expect(files).toHaveProperty(['test-file.ts'])
    if (user_prompt.includes('./src')) expect(Object.keys(files)).toContain('src/index.ts')
  }
})

test('a command that no model may invoke is requested in prose and must not fire', () => {
  const { scenarios } = commandTemplates(sampleCommand('x', { disable_model_invocation: true }))
  expect(scenarios.map(({ suffix }) => suffix)).toEqual(['basic', 'model-invocation-blocked'])
})

test('a hint that is too long is left out with a warning', () => {
  const { scenarios, warnings } = commandTemplates(sampleCommand('x', { argument_hint: 'y'.repeat(1_001) }))
  expect(scenarios.map(({ user_prompt }) => user_prompt)).toContain('/demo:x')
  expect(warnings).toEqual(['command x: its argument hint is longer than 1000 characters'])
})

test('a skill that only users can start is typed; one that cannot be started is skipped; any other needs a model', () => {
  const typed = skillTemplates(sampleSkill('greet', { disable_model_invocation: true }))
  expect(
    typed?.scenarios.map(({ user_prompt, expected_trigger }) => [user_prompt, expected_trigger]),
  ).toEqual([
    ['/demo:greet', true],
    ['greet a colleague', false],
  ])
  const dead = skillTemplates(sampleSkill('greet', { disable_model_invocation: true, user_invocable: false }))
  expect(dead).toEqual({ scenarios: [], skipped: 'it can be invoked neither by a model nor by a person' })
  expect(skillTemplates(sampleSkill('greet'))).toBeNull()
})

const { components } = sampleAnalysis({
  agents: [sampleAgent('reviewer')],
  commands: [sampleCommand('deploy')],
  mcp_servers: [sampleServer('weather', { known_tools: ['forecast'] })],
})

const around: HookSurroundings = { components, cliTools: null, permissionBypass: true, allowedTools: [] }

const hooks = (hook: HookComponent, change: Partial<HookSurroundings> = {}) =>
  hookTemplates(hook, { ...around, ...change })

const brief = (hook: HookComponent, change: Partial<HookSurroundings> = {}) =>
  hooks(hook, change).scenarios.map(({ suffix, expected_trigger, needs_tools }) => [
    suffix,
    expected_trigger,
    ...(needs_tools ?? []),
  ])

test.each(['PreToolUse', 'PostToolUse'])(
  '%s has one request per matching tool and two for tools that do not match',
  (event) => {
    expect(brief(sampleHook(event, 'Write|Edit', { matching_tools: ['Write', 'Edit'] }))).toEqual([
      ['write-direct', true, 'Write'],
      ['edit-direct', true, 'Edit'],
      ['read-negative', false, 'Read'],
      ['bash-negative', false, 'Bash'],
    ])
  },
)

test('a negative does not use a matching tool on the way to another', () => {
  expect(
    brief(
      sampleHook('PreToolUse', 'Read|Glob|Grep|Write', { matching_tools: ['Read', 'Glob', 'Grep', 'Write'] }),
    ),
  ).toEqual([
    ['read-direct', true, 'Read'],
    ['glob-direct', true, 'Glob'],
    ['grep-direct', true, 'Grep'],
    ['write-direct', true, 'Write'],
    ['bash-negative', false, 'Bash'],
  ])
})

test('no shell command is used to find files when Bash is hooked', () => {
  expect(brief(sampleHook('PreToolUse', 'Bash', { matching_tools: ['Bash'] }))).toEqual([
    ['bash-direct', true, 'Bash'],
    ['read-negative', false, 'Read'],
    ['write-negative', false, 'Write'],
  ])
})

test('a tool that the CLI does not have is reported and not requested', () => {
  const cliTools = ['Task', 'Bash', 'Read', 'Write']
  const some = hooks(sampleHook('PreToolUse', 'Glob|Agent', { matching_tools: ['Glob', 'Agent', 'Task'] }), {
    cliTools,
  })
  expect(some.scenarios.map(({ suffix }) => suffix)).toEqual([
    'agent-direct',
    'read-negative',
    'bash-negative',
  ])
  expect(some.warnings).toEqual([
    'hook PreToolUse::Glob|Agent: no scenario for Glob: this version of Claude Code does not have it',
  ])
  expect(
    hooks(sampleHook('PreToolUse', 'Grep', { matching_tools: ['Grep'] }), { cliTools }).skipped,
  ).toContain('Grep')
})

test('a hook on skills uses a skill of the plugin', () => {
  const hook = sampleHook('PreToolUse', 'Skill', { matching_tools: ['Skill'] })
  const own = {
    ...components,
    skills: [sampleSkill('hidden', { disable_model_invocation: true }), sampleSkill('greet')],
  }
  expect(hooks(hook, { components: own }).scenarios[0]?.user_prompt).toBe('Use the skill demo:greet now.')
  expect(hooks(hook).scenarios[0]?.user_prompt).toContain('skills you have')
})

test.each([null, '*', ''])('the matcher %j matches everything and gets one request', (matcher) => {
  expect(brief(sampleHook('PreToolUse', matcher, { matching_tools: ['*'] }))).toEqual([
    ['read-direct', true, 'Read'],
  ])
})

test('a pattern matches the tools of the plugin, and an unknown tool is requested by its name', () => {
  expect(brief(sampleHook('PreToolUse', 'mcp__plugin_demo_weather__.*'))[0]).toEqual([
    'mcp-plugin-demo-weather-forecast-direct',
    true,
    'mcp__plugin_demo_weather__forecast',
  ])
  const named = hooks(sampleHook('PreToolUse', 'MyTool')).scenarios[0]
  expect(named).toMatchObject({ user_prompt: expect.stringContaining('MyTool'), needs_tools: ['MyTool'] })
  expect(hooks(sampleHook('PreToolUse', '^Nothing.+$')).skipped).toBe('its matcher matches no known tool')
})

test('requests refer only to files that exist', () => {
  const tools = ['Read', 'Edit', 'Glob', 'Grep', 'NotebookEdit', 'MultiEdit']
  for (const scenario of hooks(sampleHook('PreToolUse', tools.join('|'), { matching_tools: tools }))
    .scenarios) {
    if (!scenario.expected_trigger) continue
    const [file] = /[\w-]+\.(?:md|txt|ipynb)/.exec(scenario.user_prompt) ?? []
    if (file !== undefined) expect(scenario.files).toHaveProperty([file])
    expect(scenario.files).toBeDefined()
  }
})

test('a failure is provoked where a tool can fail, and skipped with a reason where it cannot', () => {
  const failing = hooks(sampleHook('PostToolUseFailure', 'Bash|Read', { matching_tools: ['Bash', 'Read'] }))
  expect(failing.scenarios[0]).toMatchObject({
    suffix: 'bash-direct',
    user_prompt: expect.stringContaining('/no/such/directory'),
  })
  expect(failing.warnings?.[0]).toContain('no scenario for Read')
  expect(brief(sampleHook('PostToolUseFailure', null))).toEqual([['bash-direct', true, 'Bash']])
  expect(hooks(sampleHook('PostToolUseFailure', 'Glob', { matching_tools: ['Glob'] })).skipped).toContain(
    'rejected before it runs',
  )
})

test('permission requests are provoked only where permissions are neither bypassed nor granted', () => {
  const hook = sampleHook('PermissionRequest', 'Bash|Write|Read', {
    matching_tools: ['Bash', 'Write', 'Read'],
  })
  expect(hooks(hook).skipped).toContain('permission_bypass')
  expect(brief(hook, { permissionBypass: false }).filter(([, fires]) => fires)).toEqual([
    ['bash-direct', true, 'Bash'],
    ['write-direct', true, 'Write'],
  ])
  expect(
    brief(hook, { permissionBypass: false, allowedTools: ['Bash', 'Read'] }).filter(([, fires]) => fires),
  ).toEqual([['write-direct', true, 'Write']])
})

test('a handler with a condition gets a request that meets it', () => {
  const under = (rule: string, tool: string) =>
    hooks(
      sampleHook('PreToolUse', tool, {
        matching_tools: [tool],
        handlers: [{ type: 'command', action: 'x', raw: { type: 'command', command: 'x', if: rule } }],
      }),
    )
  expect(under('Bash(git *)', 'Bash').scenarios[0]?.user_prompt).toContain('git --version')
  expect(under('Bash(npm run test:*)', 'Bash').scenarios[0]?.user_prompt).toContain('npm run test --version')
  expect(under('Edit(src/**)', 'Edit').scenarios[0]).toMatchObject({
    user_prompt: expect.stringContaining('src/sample.txt'),
    files: { 'src/sample.txt': expect.stringContaining('example') },
  })
  expect(under('Read(./docs/*.md)', 'Read').scenarios[0]?.files).toHaveProperty(['docs/sample.md'])
  expect(under('Read(~/.ssh/**)', 'Read').skipped).toContain('Read(~/.ssh/**)')
  expect(under('Write(../x)', 'Write').skipped).toBeDefined()
  expect(under('Bash(rm *)', 'Write').skipped).toContain('Bash(rm *)')
  const stop = sampleHook('Stop', null, {
    handlers: [{ type: 'command', action: 'x', raw: { type: 'command', if: 'Bash(git *)' } }],
  })
  expect(hooks(stop).skipped).toContain('never runs')
})

test.each([
  ['Stop', null, 2],
  ['SubagentStop', null, 2],
  ['SubagentStart', null, 1],
  ['SessionStart', null, 1],
  ['SessionStart', 'startup|resume', 1],
  ['SessionEnd', null, 1],
  ['UserPromptSubmit', null, 2],
  ['UserPromptExpansion', null, 1],
  ['PreCompact', null, 1],
  ['PreCompact', 'manual', 1],
  ['PostCompact', null, 1],
  ['PostToolBatch', null, 1],
  ['MessageDisplay', null, 1],
  ['InstructionsLoaded', null, 1],
  ['SomethingNew', null, 1],
] as const)('%s with the matcher %j has %i scenarios', (event, matcher, count) => {
  const { scenarios, skipped } = hooks(sampleHook(event, matcher))
  expect(skipped).toBeUndefined()
  expect(scenarios).toHaveLength(count)
  for (const { expected_trigger, user_prompt } of scenarios) {
    expect(expected_trigger).toBe(true)
    expect(user_prompt).not.toBe('')
  }
})

test.each([
  ['SessionStart', 'resume|compact'],
  ['SessionEnd', 'logout'],
  ['PreCompact', 'auto'],
  ['PostCompact', 'auto'],
  ['InstructionsLoaded', 'include'],
  ['FileChanged', null],
  ['FileChanged', '.envrc'],
  ['PreModelSwitch', null],
  ['SubagentStart', 'other:agent'],
  ['UserPromptExpansion', 'other:command'],
  ['Setup', null],
  ['Notification', null],
  ['PermissionDenied', null],
  ['StopFailure', null],
  ['ConfigChange', null],
  ['CwdChanged', null],
  ['DirectoryAdded', null],
  ['TaskCreated', null],
  ['TaskCompleted', null],
  ['TeammateIdle', null],
  ['WorktreeCreate', null],
  ['WorktreeRemove', null],
  ['Elicitation', null],
  ['ElicitationResult', null],
  ['PostModelSwitch', null],
] as const)('%s with the matcher %j is skipped with a reason', (event, matcher) => {
  const { scenarios, skipped } = hooks(sampleHook(event, matcher))
  expect(scenarios).toEqual([])
  expect(skipped).toMatch(/\w{5}/)
})

test('events of subagents name a matching agent, those of commands a command', () => {
  const start = hooks(sampleHook('SubagentStart', '^demo:reviewer$')).scenarios[0]
  expect(start).toMatchObject({
    user_prompt: expect.stringContaining('demo:reviewer'),
    needs_tools: ['Agent', 'Task'],
  })
  expect(hooks(sampleHook('UserPromptExpansion', 'demo:deploy')).scenarios[0]?.user_prompt).toBe(
    '/demo:deploy',
  )
  expect(hooks(sampleHook('PreCompact', null)).scenarios[0]).toMatchObject({
    user_prompt: '/compact',
    setup_messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'user' }, { role: 'assistant' }],
  })
})

const mcp = (name: string, more = {}, skipAuthRequired = true) =>
  mcpTemplates(sampleServer(name, more), { skipAuthRequired })

test('a server whose name shows its purpose gets typical requests', () => {
  expect(mcp('weather').scenarios.map(({ suffix, user_prompt }) => [suffix, user_prompt])).toEqual([
    ['direct-1', 'What is the weather in Berlin right now?'],
    ['paraphrased-1', 'Should I take an umbrella when I go out in Berlin today?'],
    ['negative-1', 'What has been written lately about how TypeScript compiles code?'],
  ])
  for (const name of [
    'github',
    'filesystem',
    'database',
    'slack',
    'api',
    'search',
    'myGithubServer',
    'slack_bot',
  ])
    expect(mcp(name).scenarios).toHaveLength(3)
})

test.each([
  ['get_invoice', 'Use the acme server to get me the invoice.'],
  ['mcp__plugin_demo_acme__createTicket', 'Use the acme server to create a ticket called test-name.'],
  ['search-orders', 'Use the acme server to find and list the orders.'],
  ['remove_user', 'Use the acme server to delete the user called test-name.'],
  ['frobnicate', 'Use the tool frobnicate of the acme server.'],
])('for a server without a known keyword, the tool %s makes the request %j', (tool, prompt) => {
  expect(mcp('acme', { known_tools: [tool] }).scenarios[0]?.user_prompt).toBe(prompt)
})

test('keywords inside other words are ignored', () => {
  const { scenarios } = mcp('capital')
  expect(scenarios.map(({ suffix }) => suffix)).toEqual(['direct-1', 'negative-1'])
  expect(scenarios[0]?.user_prompt).toBe('Use the capital server to show me what it can do.')
})

test('a server that needs credentials is skipped, or gets one more scenario', () => {
  expect(mcp('slack', { auth_required: true })).toEqual({
    scenarios: [],
    skipped: 'it needs credentials, and mcp_servers.skip_auth_required is on',
  })
  expect(
    mcp('slack', { auth_required: true }, false).scenarios.map(({ suffix, expected_trigger }) => [
      suffix,
      expected_trigger,
    ]),
  ).toEqual([
    ['direct-1', true],
    ['paraphrased-1', true],
    ['negative-1', false],
    ['edge_case-1', true],
  ])
})
