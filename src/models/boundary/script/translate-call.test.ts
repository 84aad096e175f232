import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { ScriptCall } from './call-schema.ts'
import { finishCalls, translateCall } from './translate-call.ts'
import { viewWorkspace } from './workspace-view.ts'

const offers = {
  claude: ['Agent', 'Bash', 'Edit', 'Read', 'Skill', 'ToolSearch', 'Write', 'mcp__x__y'],
  codex: ['exec_command', 'write_stdin', 'request_user_input', 'apply_patch', 'view_image'],
  gemini: [
    'list_directory',
    'read_file',
    'replace',
    'glob',
    'write_file',
    'run_shell_command',
    'invoke_agent',
  ],
  qwen: ['task', 'read_file', 'edit', 'glob', 'write_file', 'run_shell_command'],
  copilot: ['bash', 'read_bash', 'stop_bash', 'view', 'create', 'edit', 'grep', 'glob', 'task'],
  opencode: ['bash', 'edit', 'glob', 'grep', 'read', 'skill', 'task', 'todowrite', 'webfetch', 'write'],
  builtin: ['read', 'list', 'search', 'write', 'edit', 'run'],
} as const

const run: ScriptCall = { run: 'ls -la' }
const write: ScriptCall = { write: { path: 'a/n.txt', content: 'hi\n' } }
const edit: ScriptCall = { edit: { path: 'n.txt', old: 'hi', new: 'bye' } }
const read: ScriptCall = { read: { path: 'n.txt' } }
const subagent: ScriptCall = { subagent: { prompt: 'count', description: 'Count them' } }
const view = viewWorkspace('/w')
const description = 'Scripted command'

test.each<[keyof typeof offers, ScriptCall, string, unknown]>([
  ['claude', run, 'Bash', { command: 'ls -la', description }],
  ['claude', write, 'Write', { file_path: '/w/a/n.txt', content: 'hi\n' }],
  ['claude', edit, 'Edit', { file_path: '/w/n.txt', old_string: 'hi', new_string: 'bye' }],
  ['claude', read, 'Read', { file_path: '/w/n.txt' }],
  [
    'claude',
    subagent,
    'Agent',
    {
      description: 'Count them',
      prompt: 'count',
      subagent_type: 'general-purpose',
      run_in_background: false,
    },
  ],
  ['codex', run, 'exec_command', { cmd: 'ls -la' }],
  ['codex', write, 'apply_patch', '*** Begin Patch\n*** Add File: a/n.txt\n+hi\n*** End Patch\n'],
  ['codex', read, 'exec_command', { cmd: "cat -- 'n.txt'" }],
  ['gemini', run, 'run_shell_command', { command: 'ls -la', description }],
  ['gemini', write, 'write_file', { file_path: '/w/a/n.txt', content: 'hi\n' }],
  [
    'gemini',
    edit,
    'replace',
    {
      file_path: '/w/n.txt',
      instruction: 'Replace the text as scripted.',
      old_string: 'hi',
      new_string: 'bye',
    },
  ],
  ['gemini', read, 'read_file', { file_path: '/w/n.txt' }],
  ['gemini', subagent, 'invoke_agent', { agent_name: 'generalist', prompt: 'count' }],
  ['qwen', run, 'run_shell_command', { command: 'ls -la', description }],
  ['qwen', write, 'write_file', { file_path: '/w/a/n.txt', content: 'hi\n' }],
  ['qwen', edit, 'edit', { file_path: '/w/n.txt', old_string: 'hi', new_string: 'bye' }],
  [
    'qwen',
    subagent,
    'task',
    { description: 'Count them', prompt: 'count', subagent_type: 'general-purpose' },
  ],
  ['copilot', run, 'bash', { command: 'ls -la', description, mode: 'sync' }],
  ['copilot', { write: { path: 'n.txt', content: '' } }, 'create', { path: '/w/n.txt', file_text: '' }],
  ['copilot', edit, 'edit', { path: '/w/n.txt', old_str: 'hi', new_str: 'bye' }],
  ['copilot', read, 'view', { path: '/w/n.txt' }],
  [
    'copilot',
    subagent,
    'task',
    {
      name: 'count-them',
      description: 'Count them',
      prompt: 'count',
      agent_type: 'general-purpose',
      mode: 'sync',
    },
  ],
  ['opencode', run, 'bash', { command: 'ls -la', description }],
  ['opencode', write, 'write', { filePath: '/w/a/n.txt', content: 'hi\n' }],
  ['opencode', edit, 'edit', { filePath: '/w/n.txt', oldString: 'hi', newString: 'bye' }],
  ['opencode', read, 'read', { filePath: '/w/n.txt' }],
  ['opencode', subagent, 'task', { description: 'Count them', prompt: 'count', subagent_type: 'general' }],
  ['builtin', run, 'run', { command: 'ls -la' }],
  ['builtin', write, 'write', { path: 'a/n.txt', content: 'hi\n' }],
  ['builtin', edit, 'edit', { path: 'n.txt', old: 'hi', new: 'bye' }],
  ['builtin', read, 'read', { path: 'n.txt' }],
])('%s performs %j with %s', (agent, call, name, input) => {
  expect(translateCall(call, offers[agent], view)).toEqual({ kind: 'uses', uses: [{ name, input }] })
})

test('older tools of the same agents are supported', () => {
  expect(first(subagent, ['Task', 'Bash'], view)).toMatchObject({
    name: 'Task',
    input: { description: 'Count them', prompt: 'count', subagent_type: 'general-purpose' },
  })
  expect(first(run, ['shell', 'apply_patch'], view)).toMatchObject({
    name: 'shell',
    input: { command: ['bash', '-lc', 'ls -la'] },
  })
  expect(first(run, ['shell_command'], view)).toMatchObject({ input: { command: 'ls -la' } })
})

test('a tool given by name is called exactly as written, offered or not', () => {
  const tool = { name: 'mcp__x__y', input: { a: 1 }, id: 'mine' }
  expect(translateCall({ tool }, [], view)).toEqual({ kind: 'uses', uses: [tool] })
})

test('Codex edits whole lines of the current file, and falls back to its shell where a patch cannot express the edit', async () => {
  await using fixture = await createFixture({ 'n.txt': 'oh, hi there\nnext\n', 'm.txt': 'hi' })
  const here = viewWorkspace(fixture.path)
  expect(first(edit, offers.codex, here)).toMatchObject({
    name: 'apply_patch',
    input: '*** Begin Patch\n*** Update File: n.txt\n@@\n-oh, hi there\n+oh, bye there\n*** End Patch\n',
  })
  const inner = { edit: { path: 'm.txt', old: 'hi', new: 'bye' } }
  expect(first(inner, offers.codex, here)).toMatchObject({ name: 'exec_command' })
  expect(first(edit, ['exec_command'], here)).toMatchObject({ name: 'exec_command' })
  const unended = { write: { path: 'n.txt', content: 'no end of line' } }
  expect(first(unended, offers.codex, here)).toMatchObject({ name: 'exec_command' })
})

test('Copilot, whose tool only creates new files in existing directories, uses its shell for the rest', async () => {
  await using fixture = await createFixture({ 'a/old.txt': 'there' })
  const here = viewWorkspace(fixture.path)
  const say = (path: string) => first({ write: { path, content: '' } }, offers.copilot, here)
  expect(say('a/n.txt')).toMatchObject({ name: 'create' })
  expect(say(`${fixture.path}/n.txt`)).toMatchObject({ name: 'create' })
  expect(say('a/old.txt')).toMatchObject({ name: 'bash' })
  expect(say('b/n.txt')).toMatchObject({ name: 'bash' })
  expect(first(write, offers.copilot, viewWorkspace(undefined))).toMatchObject({ name: 'create' })
})

test('Copilot uses apply_patch with a model that patches', () => {
  const offered = ['bash', 'read_bash', 'view', 'apply_patch', 'rg', 'task']
  expect(first(run, offered, view)).toMatchObject({ name: 'bash' })
  expect(first(write, offered, view)).toMatchObject({ name: 'apply_patch' })
  expect(first(edit, offered, view)).toMatchObject({ name: 'bash' })
})

test('Codex starts a subagent with an offered tool, or with one it can find by tool search', () => {
  expect(translateCall(subagent, [...offers.codex, 'collaboration.spawn_agent'], view)).toEqual({
    kind: 'uses',
    uses: [
      {
        name: 'collaboration.spawn_agent',
        input: { task_name: 'count_them', message: 'count', fork_turns: 'none' },
      },
      { name: 'collaboration.wait_agent', input: {} },
    ],
  })
  expect(translateCall(subagent, [...offers.codex, 'tool_search'], view)).toEqual({
    kind: 'uses',
    uses: [{ name: 'multi_agent_v1.spawn_agent', input: { message: 'count' } }],
  })
})

test('a Gemini subagent submits its final text; other agents do not', () => {
  expect(finishCalls('done', [...offers.gemini, 'complete_task'], view)).toEqual([
    { name: 'complete_task', input: { result: { response: 'done' } } },
  ])
  for (const offered of [...Object.values(offers), []]) expect(finishCalls('done', offered, view)).toEqual([])
})

test('a path has the form that the agent requires, also when it was written as absolute', () => {
  const absolute = { read: { path: '/w/n.txt' } }
  expect(first(absolute, offers.builtin, view)).toMatchObject({ input: { path: 'n.txt' } })
  expect(first({ read: { path: '/else' } }, offers.builtin, view)).toMatchObject({ input: { path: '/else' } })
  expect(first(read, offers.claude, viewWorkspace(undefined))).toMatchObject({
    input: { file_path: 'n.txt' },
  })
})

test.each<[ScriptCall, readonly string[], RegExp]>([
  [run, ['Read'], /run a command.*Claude Code offers only Read/],
  [write, ['view'], /write a file.*Copilot CLI offers only view/],
  [subagent, offers.codex, /start a subagent.*Codex offers only exec_command/],
  [subagent, offers.builtin, /start a subagent.*the builtin agent offers/],
  [run, ['strange'], /an unknown agent offers only strange/],
  [edit, [], /edit a file.*offers no tools/],
])('%j is impossible with %j, and the problem says so', (call, tools, problem) => {
  expect(translateCall(call, tools, view)).toEqual({
    kind: 'unsupported',
    problem: expect.stringMatching(problem),
  })
})

/** The tool that is called first. */
function first(...speech: Parameters<typeof translateCall>) {
  const spoken = translateCall(...speech)
  return spoken.kind === 'uses' ? spoken.uses[0] : spoken
}
