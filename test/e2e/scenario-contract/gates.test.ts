import { symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, writes } from '../support/project.ts'
import { trialEvents, trialJson } from '../support/trial-files.ts'

const turns = [
  { run: 'tool add milk' },
  { run: 'tool add bread' },
  writes('notes/list.md', '# Notes\n- milk\n'),
  writes('gone.txt'),
  { delete: 'gone.txt' },
]
const files = {
  'bin/tool': '#!/bin/sh\n[ "$1" = fail ] && exit 3\necho "$*" >> log.txt\n',
  'fixtures/template/data.json': '{"notes": [{"tag": "shop"}, {"tag": "home"}], "title": "My notes"}',
}

async function results(gates: Record<string, unknown>[], played: Record<string, unknown>[] = turns) {
  using project = smallProject({
    scenario: { target: { binary: './bin/tool', env: { WORD: 'from target.env' } } },
    gates,
    turns: played,
    files,
  })
  return onlyTrial(await gantryTest(project))
}

describe('every gate passes and fails through a real scenario', () => {
  test.each<[Record<string, unknown>, Record<string, unknown>]>([
    [
      { type: 'command_succeeds', command: 'test -f log.txt' },
      { type: 'command_succeeds', command: 'test -f nothing' },
    ],
    [
      { type: 'command_output_contains', command: 'cat log.txt', substring: 'add milk' },
      { type: 'command_output_contains', command: 'echo add milk >&2', substring: 'add milk' },
    ],
    [
      { type: 'command_output_matches', command: 'cat log.txt', pattern: '(?m)^add b\\w+$' },
      { type: 'command_output_matches', command: 'cat log.txt', pattern: '^bread' },
    ],
    [
      { type: 'command_json_path', command: 'cat data.json', path: '$.notes', assertion: 'len == 2' },
      { type: 'command_json_path', command: 'cat data.json', path: '$.notes', assertion: 'len > 2' },
    ],
    [
      { type: 'file_exists', path: 'notes/list.md' },
      { type: 'file_exists', path: 'gone.txt' },
    ],
    [
      { type: 'file_contains', path: 'notes/list.md', substring: '- milk' },
      { type: 'file_contains', path: 'notes/list.md', substring: '- bread' },
    ],
    [
      { type: 'file_matches', path: 'notes/list.md', pattern: '(?m)^# \\w+$' },
      { type: 'file_matches', path: 'notes/list.md', pattern: '^- milk' },
    ],
    [
      { type: 'script', command: 'grep -q milk log.txt', description: 'd' },
      { type: 'script', command: 'grep -q eggs log.txt', description: 'd' },
    ],
    [
      { type: 'workspace_delta', created: ['notes/list.md', 'log.txt'] },
      { type: 'workspace_delta', created: ['notes/list.md'] },
    ],
    [
      { type: 'tool_called', command: 'tool add', min: 2, max: 2 },
      { type: 'tool_called', command: 'tool add', min: 3 },
    ],
  ])('$type', async (good, bad) => {
    const trial = await results([good, bad])
    expect(trial.gates).toMatchObject([
      { type: good.type, passed: true },
      { type: bad.type, passed: false },
    ])
    expect(trial.gates[1]?.message).not.toBe('')
  })

  test('no_transcript_errors', async () => {
    const gate = { type: 'no_transcript_errors' }
    expect((await results([gate])).verdict).toBe('pass')
    const failed = await results([gate], [...turns, { run: 'tool fail' }])
    expect(failed.gates).toMatchObject([{ passed: false }])
    expect(failed.gates[0]?.message).toContain('tool fail')
    const foreign = await results([gate], [...turns, { run: 'false' }])
    expect(foreign.verdict).toBe('pass')
  })
})

test('workspace_delta tells created, changed and deleted files apart', async () => {
  const gate = {
    type: 'workspace_delta',
    created: ['new.txt'],
    changed: ['AGENTS.md'],
    deleted: ['data.json'],
  }
  const played = [writes('new.txt'), writes('AGENTS.md', 'other'), { delete: 'data.json' }]
  expect((await results([gate], played)).verdict).toBe('pass')
  const extra = await results([gate], [...played, writes('stray.txt')])
  expect(extra.reason).toContain('stray.txt')
})

test('tool_called knows order and other tools than the shell', async () => {
  const gates = [
    { type: 'tool_called', tool: 'Write', after: { command: 'tool add' } },
    { type: 'tool_called', tool: 'Write', before: { command: 'tool add' } },
    { type: 'tool_called', tool: 'Edit', max: 0 },
  ]
  const trial = await results(gates)
  expect(trial.gates.map(({ passed }) => passed)).toEqual([true, false, true])
})

test('all gates run in the order they are declared, also after one failed', async () => {
  const gates = [1, 2, 3].map((n) => ({
    type: 'command_succeeds',
    command: `echo ${n} >> order; exit ${n % 2}`,
  }))
  const last = { type: 'command_output_matches', command: 'cat order', pattern: '^1\n2\n3\n$' }
  const trial = await results([...gates, last])
  expect(trial.gates.map(({ passed }) => passed)).toEqual([false, true, false, true])
  expect(trial.reason).toContain('2 of 4 gates failed')
})

test('each gate leaves an event and a row of metrics.json with its snake_case name', async () => {
  using project = smallProject({
    gates: [{ type: 'file_exists', path: 'done.txt' }, { type: 'no_transcript_errors' }],
  })
  const trial = onlyTrial(await gantryTest(project))
  expect(trialEvents(trial, 'gate')).toMatchObject([
    { index: 0, type: 'file_exists', passed: true },
    { index: 1, type: 'no_transcript_errors', passed: true },
  ])
  expect(trialJson(trial, 'metrics.json')).toMatchObject({
    gates_passed: 2,
    gates_total: 2,
    gate_results: [
      { type: 'file_exists', passed: true, detail: expect.any(Object) },
      { type: 'no_transcript_errors', passed: true },
    ],
  })
})

describe('gate commands', () => {
  test('get target.env, the workspace and a time limit', async () => {
    const trial = await results([
      { type: 'command_output_contains', command: 'echo $WORD', substring: 'from target.env' },
      { type: 'command_output_matches', command: 'pwd', pattern: '/fixture\n$' },
      { type: 'command_succeeds', command: 'sleep 60', timeout_secs: 0.2 },
    ])
    expect(trial.gates.map(({ passed }) => passed)).toEqual([true, true, false])
    expect(trial.gates[2]?.message).toContain('0.2 s')
  })

  test('are judged by what they print, unless an exit code is demanded too', async () => {
    const gate = { type: 'command_output_contains', command: 'echo yes; exit 5', substring: 'yes' }
    const trial = await results([gate, { ...gate, expect_exit: 0 }, { ...gate, expect_exit: 5 }])
    expect(trial.gates.map(({ passed }) => passed)).toEqual([true, false, true])
    expect(trial.gates[0]?.detail).toMatchObject({ exit_code: 5 })
  })

  test('that do not exist fail their gate with the reason', async () => {
    const trial = await results([{ type: 'command_succeeds', command: 'no-such-program-here' }])
    expect(trial.gates[0]).toMatchObject({ passed: false, detail: { exit_code: 127 } })
  })

  test('that print no JSON fail command_json_path and say so', async () => {
    const gate = { type: 'command_json_path', command: 'echo plain', path: '$', assertion: 'exists' }
    expect((await results([gate])).gates[0]?.message).toMatch(/not JSON/i)
  })
})

describe('command_json_path', () => {
  test.each([
    ['$.title', 'exists', true],
    ['$.nothing', 'exists', false],
    ['$.title', 'equals "My notes"', true],
    ['$.title', 'equals My notes', true],
    ['$.title', 'contains notes', true],
    ['$.notes[1].tag', 'equals home', true],
    ['$.notes', 'len >= 2', true],
    ['$.notes', 'len <= 1', false],
    ['$.notes', 'len < 3', true],
    ["$.notes[?@.tag == 'shop'].tag", 'len == 1', true],
    ['$.nothing', 'len >= 0', false],
  ])('%s %s', async (path, assertion, passed) => {
    const gate = { type: 'command_json_path', command: 'cat data.json', path, assertion }
    expect((await results([gate])).gates).toMatchObject([{ passed }])
  })
})

describe('a gate that cannot mean anything is refused before the run', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['an empty command', { type: 'command_succeeds', command: ' ' }, /command is empty/],
    ['a bad pattern', { type: 'file_matches', path: 'x', pattern: '(' }, /pattern is invalid/],
    ['a path with ..', { type: 'file_exists', path: '../x' }, /"\.\."/],
    ['an absolute path', { type: 'file_contains', path: '/etc/passwd', substring: 'x' }, /absolute/],
    [
      'a comparison that is no assertion',
      { type: 'command_json_path', command: 'true', path: '$.count', assertion: '> 5' },
      /exists.*equals.*contains.*len/s,
    ],
    [
      'a path that does not start with $',
      { type: 'command_json_path', command: 'true', path: 'count', assertion: 'exists' },
      /\$/,
    ],
    ['a script without a description', { type: 'script', command: 'true' }, /description/],
  ])('%s', async (_what, gate, message) => {
    using project = smallProject({ gates: [gate] })
    const { code, stderr } = await gantry(project, ['test'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/case\.yaml:\d+:\d+/)
    expect(stderr).toMatch(message)
  })
})

test('file gates never follow a link out of the workspace', async () => {
  using project = smallProject({
    gates: [
      { type: 'file_exists', path: 'link' },
      { type: 'file_contains', path: 'link', substring: 'outside' },
    ],
    turns: [{ run: 'ln -s "$OUTSIDE" link' }],
    scenario: { target: { binary: 'sh', env: { OUTSIDE: `$\{PLACE}` } } },
    files: { outside: 'outside' },
  })
  symlinkSync(project.path('outside'), project.path('another'))
  const trial = onlyTrial(await gantryTest(project, [], { env: { PLACE: project.path('outside') } }))
  expect(trial.gates.map(({ passed }) => passed)).toEqual([false, false])
})
