import { join } from 'node:path'
import { createFixture, type FileTree } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import type { HookDecision, HookEffect } from './contract.ts'
import { exampleEvent, type HookExample, readHookExamples } from './hook-examples.ts'
import type { LabPlace } from './lab-place.ts'
import { judgeExample, strictest } from './try-hooks.ts'

const place: LabPlace = {
  workspace: '/w',
  home: '/h',
  tmp: '/t',
  pluginRoot: '/p',
  pluginData: '/d',
  transcript: '/h/s.jsonl',
  envFile: '/e',
}
const names = { plugin: 'demo', agents: [], commands: [], toolPrefixes: [] }

async function read(files: FileTree) {
  await using plugin = await createFixture({ evals: { hooks: files } })
  return readHookExamples(plugin.path).map(({ example, source }) => [source, example.expect])
}

describe('examples of the author', () => {
  test('are one or several per file, and are read in the order of file names', async () => {
    expect(
      await read({
        'b.yaml': 'event: Stop\nexpect: allow\n',
        'a.yml':
          '- { event: Stop, expect: block }\n- { event: SessionStart, expect: context, contains: x }\n',
        'notes.md': 'not an example',
      }),
    ).toEqual([
      ['evals/hooks/a.yml#1', 'block'],
      ['evals/hooks/a.yml#2', 'context'],
      ['evals/hooks/b.yaml', 'allow'],
    ])
    await using none = await createFixture({})
    expect(readHookExamples(none.path)).toEqual([])
  })

  test.each([
    ['event: PreTolUse\nexpect: deny\n', "not 'PreTolUse'; did you mean 'PreToolUse'?"],
    ['event: Stop\nexpects: deny\n', "a.yaml:2:1: unknown key 'expects', did you mean 'expect'?"],
    ['event: Stop\nexpect: refuse\n', "a.yaml:2:9: expect: expected one of 'deny'"],
    ['event: Stop\n', "missing key 'expect'"],
    ['- { event: Stop, expect: allow }\n- { event: Stop }\n', "missing key 'expect'"],
  ])('%j is rejected with its position', async (text, message) => {
    await expect(read({ 'a.yaml': text })).rejects.toThrow(message)
  })

  test('a link out of the plugin is not followed', async () => {
    await expect(read({ 'a.yaml': ({ symlink }) => symlink('/etc/hostname') })).rejects.toMatchObject({
      code: 'INVALID_FILE',
    })
  })
})

describe('the event of an example', () => {
  const event = (example: Partial<HookExample> & { event: string }) =>
    exampleEvent({ input: {}, expect: 'allow', ...example }, place, names).payload

  test('combines the fields of the example with a simulated event', () => {
    expect(
      event({ event: 'PreToolUse', input: { tool_name: 'Write', tool_input: { file_path: 'a/../b' } } }),
    ).toMatchObject({
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
      tool_input: { file_path: '/w/a/../b' },
      cwd: '/w',
    })
    expect(event({ event: 'SessionStart', input: { source: 'compact' } })).toMatchObject({
      source: 'compact',
      model: expect.any(String),
    })
    expect(event({ event: 'Stop', input: { effort: { level: 'high' } } })).toMatchObject({
      effort: { level: 'high' },
      stop_hook_active: false,
    })
  })

  test('contains nothing of another call, and expands the home directory', () => {
    expect(
      event({ event: 'PreToolUse', input: { tool_name: 'Bash', tool_input: { command: 'ls' } } }).tool_input,
    ).toEqual({ command: 'ls' })
    expect(
      event({ event: 'PreToolUse', input: { tool_name: 'Read', tool_input: { file_path: '~/.ssh/id_rsa' } } })
        .tool_input,
    ).toEqual({
      file_path: join('/h', '.ssh/id_rsa'),
    })
    expect(event({ event: 'PreToolUse', input: { tool_name: 'Mine', tool_input: 'text' } })).toMatchObject({
      tool_name: 'Mine',
      tool_input: 'text',
    })
  })
})

describe('an example', () => {
  const answer = (decision: HookDecision, text: string | null = null, change?: unknown): HookEffect => ({
    decision,
    text,
    noticed: [],
    ...(change !== undefined && { change }),
  })
  const judge = (expect_: HookExample['expect'], answers: HookEffect[], contains?: string) =>
    judgeExample(
      { event: 'PreToolUse', input: {}, expect: expect_, ...(contains !== undefined && { contains }) },
      answers,
    )

  test.each([
    ['deny', ['allow', 'deny'], true],
    ['deny', ['block'], true],
    ['block', ['deny'], true],
    ['deny', ['ask'], false],
    ['deny', [], false],
    ['allow', [], true],
    ['allow', ['none', 'context'], true],
    ['allow', ['modify'], true],
    ['allow', ['ask'], false],
    ['allow', ['deny'], false],
    ['ask', ['allow', 'ask'], true],
    ['ask', ['deny', 'ask'], false],
    ['context', ['allow', 'context'], true],
    ['context', ['context', 'modify'], true],
    ['context', ['context', 'deny'], false],
    ['modify', ['modify'], true],
    ['none', [], true],
    ['none', ['none', 'none'], true],
    ['none', ['allow'], false],
    ['none', ['context'], false],
  ] as const)('that expects %s and gets %j: %s', (expected, decisions, passes) => {
    const failed = judge(
      expected,
      decisions.map((decision) => answer(decision)),
    )
    expect(failed === null).toBe(passes)
  })

  test('may require a text in the reason or in the change', () => {
    expect(judge('deny', [answer('deny', 'not here')], 'here')).toBeNull()
    expect(judge('deny', [answer('deny', 'not here')], 'there')).toContain("contains 'there'")
    expect(judge('modify', [answer('modify', null, { command: 'ls -l' })], 'ls -l')).toBeNull()
  })

  test('is decided by the strictest of its hooks', () => {
    expect(strictest([answer('allow'), answer('ask'), answer('deny', 'no')])).toMatchObject({
      decision: 'deny',
      text: 'no',
    })
    expect(strictest([])).toMatchObject({ decision: 'none' })
  })
})
