import { realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { analyzePlugin } from './analyze-plugin.ts'
import type { Analysis } from './contract.ts'

const files = {
  'p/.claude-plugin/plugin.json': '{"name":"demo","version":"1.0.0"}',
  'p/skills/greet/SKILL.md': `---
name: greet
description: 'Greets people. Use when the user asks to "say hello to Bob" or "greet the team".'
allowed-tools: Read, Bash(date *)
user-invocable: false
---
# Greeting
`,
  'p/agents/team/reviewer.md': `---
name: reviewer
description: |
  Reviews a change.
  <example>
  Context: A change is done.
  user: "Is this ready?"
  assistant: "I will ask the reviewer."
  <commentary>Done work is reviewed.</commentary>
  </example>
model: haiku
tools: [Read, Grep]
---
body
`,
  'p/agents/plain.md': `${'Looks after the garden and its plants. '.repeat(30)}`,
  'p/commands/deploy/staging.md': `---
description: Deploy to staging.
argument-hint: "[version] <region>"
allowed-tools: Bash(make *)
disable-model-invocation: true
---
Deploy $ARGUMENTS
`,
  'p/commands/long.md': 'x'.repeat(600),
  'p/hooks/hooks.json': JSON.stringify({
    hooks: { PreToolUse: [{ matcher: 'Write', hooks: [{ type: 'command', command: 'block' }] }] },
  }),
  'p/.mcp.json': JSON.stringify({
    mcpServers: {
      'my weather': {
        command: 'node',
        args: ['server.js', `--key=\${API_KEY:-none}`],
        env: { REGION: 'eu', HOME_URL: `\${BASE}/x`, ROOT: `\${CLAUDE_PLUGIN_ROOT}` },
      },
      remote: {
        type: 'http',
        url: 'https://example.com/mcp',
        headers: { Authorization: `Bearer \${TOKEN}` },
      },
      stream: { type: 'sse', url: 'https://example.com/sse' },
      socket: { type: 'ws', url: 'wss://example.com' },
    },
  }),
}

async function analysed(root: string, more: object = {}): Promise<Analysis> {
  const outcome = await analyzePlugin({ path: join(root, 'p'), cwd: root, ...more })
  if (outcome.kind !== 'analysed') throw new Error('refused')
  return outcome.analysis
}

test('every component is described from its files', async () => {
  await using fixture = await createFixture(files)
  const { components, ...rest } = await analysed(fixture.path)
  expect(rest).toMatchObject({
    schema_version: 1,
    plugin_name: 'demo',
    plugin_path: realpathSync(fixture.getPath('p')),
    manifest: { name: 'demo', version: '1.0.0' },
    plugin_load_result: null,
  })
  expect(components.skills).toEqual([
    {
      name: 'greet',
      cli_name: 'demo:greet',
      plugin: 'demo',
      path: 'skills/greet/SKILL.md',
      line: 3,
      description: 'Greets people. Use when the user asks to "say hello to Bob" or "greet the team".',
      triggers: ['say hello to Bob', 'greet the team'],
      intents: [
        { action: 'say', object: 'hello', context: 'to Bob', raw_phrase: 'say hello to Bob' },
        { action: 'greet', object: 'team', context: '', raw_phrase: 'greet the team' },
      ],
      allowed_tools: ['Read', 'Bash(date *)'],
      disable_model_invocation: false,
      user_invocable: false,
    },
  ])
  expect(components.agents).toMatchObject([
    { name: 'plain', cli_name: 'demo:plain', model: 'inherit', tools: [], examples: [] },
    {
      name: 'team/reviewer',
      cli_name: 'demo:team:reviewer',
      path: 'agents/team/reviewer.md',
      model: 'haiku',
      tools: ['Read', 'Grep'],
      examples: [
        {
          context: 'A change is done.',
          user_message: 'Is this ready?',
          expected_response: 'I will ask the reviewer.',
          commentary: 'Done work is reviewed.',
        },
      ],
    },
  ])
  expect(components.commands).toEqual([
    expect.objectContaining({
      name: 'deploy/staging',
      cli_name: 'demo:deploy:staging',
      namespace: 'deploy',
      invocation: '/demo:deploy:staging',
      argument_hint: '[version] <region>',
      arguments: ['version', 'region'],
      allowed_tools: ['Bash(make *)'],
      disable_model_invocation: true,
    }),
    expect.objectContaining({
      name: 'long',
      namespace: '',
      description: 'x'.repeat(500),
      argument_hint: null,
      arguments: [],
    }),
  ])
  expect(components.mcp_servers).toMatchObject([
    {
      name: 'my weather',
      cli_name: 'plugin:demo:my weather',
      server_type: 'stdio',
      auth_required: true,
      env_vars: ['REGION', 'HOME_URL', 'ROOT', 'API_KEY', 'BASE'],
      tool_prefix: 'mcp__plugin_demo_my_weather__',
      known_tools: [],
    },
    { name: 'remote', server_type: 'http', auth_required: true, env_vars: ['TOKEN'] },
    { name: 'stream', server_type: 'sse', auth_required: false, env_vars: [] },
    { name: 'socket', server_type: 'websocket', auth_required: false },
  ])
})

test('when_to_use, agents and commands are read for what users say, and for what they must not be used', async () => {
  const when = 'when the user says "find bugs". Do not use it when the user says "write a test".'
  await using fixture = await createFixture({
    'p/skills/s/SKILL.md': `---\ndescription: Works.\nwhen_to_use: Use ${when}\n---\nx`,
    'p/commands/c.md': `---\ndescription: Prints "no bugs". Use ${when}\n---\nx`,
    'p/agents/a.md': `---\ndescription: |\n  Use\n  <example>\n  user: "Why?"\n  </example>\n  ${when}\n---\nx`,
  })
  const { skills, commands, agents } = (await analysed(fixture.path)).components
  const read = { triggers: ['find bugs'], negative_triggers: ['write a test'] }
  expect([skills, commands]).toMatchObject([[read], [read]])
  expect(
    agents[0]?.examples.map(({ user_message, is_negative }) => [user_message, is_negative ?? false]),
  ).toEqual([
    ['Why?', false],
    ['find bugs', false],
    ['write a test', true],
  ])
})

test('the trigger understanding has one map per type, by name', async () => {
  await using fixture = await createFixture(files)
  const { trigger_understanding: understood } = await analysed(fixture.path)
  expect(understood.skills).toEqual({
    greet: {
      triggers: ['say hello to Bob', 'greet the team'],
      description: 'Greets people. Use when the user asks to "say hello to Bob" or "greet the team".',
    },
  })
  expect(understood.agents['team/reviewer']).toMatchObject({
    examples: [{ user_message: 'Is this ready?' }],
    description: expect.stringContaining('Reviews a change.'),
  })
  expect(understood.commands['deploy/staging']).toEqual({
    invocation: '/demo:deploy:staging',
    arguments: ['version', 'region'],
  })
  expect(understood.hooks).toEqual({
    'PreToolUse::Write': {
      eventType: 'PreToolUse',
      matcher: 'Write',
      matchingTools: ['Write'],
      expectedBehavior: 'block',
    },
  })
  expect(understood.mcp_servers.remote).toEqual({
    serverType: 'http',
    authRequired: true,
    envVars: ['TOKEN'],
    knownTools: [],
  })
})

test('the hash changes with every file that is read, and with nothing else', async () => {
  await using fixture = await createFixture(files)
  const before = await analysed(fixture.path)
  writeFileSync(fixture.getPath('p/NOTES.txt'), 'x')
  expect((await analysed(fixture.path)).content_hash).toBe(before.content_hash)
  for (const path of Object.keys(files)) {
    const text = files[path as keyof typeof files]
    writeFileSync(fixture.getPath(path), path.endsWith('.json') ? ` ${text}` : `${text} `)
    expect([path, (await analysed(fixture.path)).content_hash]).not.toEqual([path, before.content_hash])
    writeFileSync(fixture.getPath(path), text)
  }
  expect((await analysed(fixture.path)).content_hash).toBe(before.content_hash)
})

test('nothing is read through a link that leads out', async () => {
  await using fixture = await createFixture({
    ...files,
    'secret/SKILL.md': '---\ndescription: top secret\n---\n',
  })
  symlinkSync('../../secret', fixture.getPath('p/skills/out'))
  symlinkSync('../../../secret/SKILL.md', fixture.getPath('p/commands/deploy/out.md'))
  rmSync(fixture.getPath('p/.mcp.json'))
  symlinkSync('../secret/SKILL.md', fixture.getPath('p/.mcp.json'))
  const analysis = await analysed(fixture.path)
  expect(JSON.stringify(analysis)).not.toContain('top secret')
  expect(analysis.findings.filter(({ code }) => code === 'LINK_OUTSIDE').map(({ path }) => path)).toEqual([
    '.mcp.json',
    'commands/deploy/out.md',
    'skills/out',
  ])
})

test('a skill whose directory is a link inside the plugin is read, as in Claude Code', async () => {
  await using fixture = await createFixture({
    ...files,
    'p/shared/in/SKILL.md': '---\ndescription: Inside.\n---\n',
  })
  symlinkSync('../shared/in', fixture.getPath('p/skills/linked'))
  const { components, findings } = await analysed(fixture.path)
  expect(components.skills.map(({ cli_name }) => cli_name)).toEqual(['demo:greet', 'demo:linked'])
  expect(findings.some(({ code }) => code.startsWith('LINK'))).toBe(false)
})

test('a refused plugin has only a preflight', async () => {
  await using fixture = await createFixture({ 'p/x': '' })
  const outcome = await analyzePlugin({ path: 'p', cwd: fixture.path })
  expect(outcome).toMatchObject({ kind: 'refused', preflight: { valid: false } })
})

test('names that are special in JavaScript are ordinary names', async () => {
  await using fixture = await createFixture({
    'p/.claude-plugin/plugin.json': '{"name":"demo","__proto__":{"x":1},"constructor":1}',
    'p/skills/constructor/SKILL.md': '---\ndescription: A.\n---\n',
    'p/skills/toString/SKILL.md': '---\ndescription: B.\n__proto__: 1\n---\n',
    'p/hooks/hooks.json':
      '{"hooks":{"constructor":[],"__proto__":[],"Stop":[{"hooks":[{"type":"constructor"}]}]}}',
    'p/.mcp.json': '{"mcpServers":{"__proto__":{"command":"x"},"hasOwnProperty":{"type":"constructor"}}}',
  })
  const { components, trigger_understanding: understood, findings } = await analysed(fixture.path)
  expect(Object.keys(understood.skills)).toEqual(['constructor', 'toString'])
  expect(components.mcp_servers.map(({ name }) => name)).toEqual(['__proto__', 'hasOwnProperty'])
  expect(findings.filter(({ code }) => code === 'HOOK_EVENT_UNKNOWN').length).toBe(2)
})

test('the crowd takes space in the listing, and the plugin itself is not counted twice', async () => {
  await using fixture = await createFixture({
    ...files,
    'other/.claude-plugin/plugin.json': '{"name":"other"}',
    'other/commands/hi.md': '---\ndescription: Say hi.\n---\n',
    'other/skills/greet/SKILL.md': '---\ndescription: Something else.\n---\n',
  })
  const { listing, findings } = await analysed(fixture.path, { crowd: ['other', 'p', './other'] })
  expect(findings.filter(({ code }) => code === 'NAME_COLLISION')).toEqual([])
  expect(listing.entries.map(({ component, shown }) => [component, shown])).toEqual([
    ['command:other:hi', 'whole'],
    ['skill:greet', 'whole'],
    ['skill:other:greet', 'whole'],
  ])
  expect(listing).toMatchObject({ budget_characters: 30_000, reserved_characters: 6_064 })
  expect((await analysed(fixture.path, { contextTokens: 1_000_000 })).listing.budget_characters).toBe(30_000)
})

test('overlaps between other plugins are not reported', async () => {
  const says =
    '---\ndescription: \'Converts invoices to a spreadsheet when the user says "convert the invoice".\'\n---\n'
  const other = (name: string) => ({
    [`${name}/.claude-plugin/plugin.json`]: JSON.stringify({ name }),
    [`${name}/skills/invoices/SKILL.md`]: says,
  })
  await using fixture = await createFixture({ ...files, ...other('one'), ...other('two') })
  const { findings } = await analysed(fixture.path, { crowd: ['one', 'two'] })
  expect(
    findings.filter(({ code }) => code === 'SHARED_TRIGGER' || code === 'OVERLAPPING_DESCRIPTIONS'),
  ).toEqual([])
})
