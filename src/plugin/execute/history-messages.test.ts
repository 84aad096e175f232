import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { historyMessages } from './history-messages.ts'

async function read(...lines: readonly (object | string)[]) {
  await using fixture = await createFixture({
    'h.jsonl': lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  })
  return historyMessages(fixture.getPath('h.jsonl'))
}

test('a transcript of Claude Code becomes messages, with tool calls as text', async () => {
  const history = await read(
    { type: 'summary', summary: 'x' },
    { type: 'user', isMeta: true, message: { role: 'user', content: 'meta' } },
    { type: 'user', message: { role: 'user', content: 'Read it.' } },
    {
      type: 'assistant',
      message: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'I will.' },
        ],
      },
    },
    {
      type: 'assistant',
      message: {
        role: 'assistant',
        content: [{ type: 'tool_use', name: 'Read', input: { file_path: 'a' } }],
      },
    },
    {
      type: 'user',
      message: {
        role: 'user',
        content: [{ type: 'tool_result', content: [{ type: 'text', text: 'words' }] }],
      },
    },
    { type: 'assistant', isSidechain: true, message: { role: 'assistant', content: 'of a subagent' } },
    '',
  )
  expect(history).toEqual({
    kind: 'messages',
    messages: [
      { role: 'user', content: 'Read it.' },
      { role: 'assistant', content: 'I will.\n\n[I used Read with {"file_path":"a"}]' },
      { role: 'user', content: '[The tool answered: words]' },
    ],
  })
})

test('plain lines of role and content are accepted too', async () => {
  expect(await read({ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' })).toMatchObject({
    messages: [{ role: 'user' }, { role: 'assistant' }],
  })
})

test('an unusable history reports the reason', async () => {
  expect(await read('{"role":"user","content":"a"}', 'not json')).toMatchObject({
    kind: 'unusable',
    problem: expect.stringContaining('line 2'),
  })
  expect(await read({ type: 'summary' })).toMatchObject({ kind: 'unusable' })
  expect(historyMessages('/nonexistent/h.jsonl')).toMatchObject({ kind: 'unusable' })
  expect(historyMessages('/')).toMatchObject({ kind: 'unusable' })
})
