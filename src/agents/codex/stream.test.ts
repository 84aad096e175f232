import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeStreamParser } from '../stream.conformance.ts'
import { createStreamParser, unwrapShell } from './stream.ts'

describeStreamParser('codex', createStreamParser, join(import.meta.dirname, 'fixtures'))

describe('the codex stream', () => {
  test.each([
    ['unexpected status 401 Unauthorized: Missing bearer', 'auth'],
    ['exceeded retry limit, last status: 429 Too Many Requests', 'rate_limit'],
    ["You've hit your usage limit.", 'rate_limit'],
    ['stream disconnected before completion: error sending request', 'unavailable'],
    ["Codex ran out of room in the model's context window.", 'context'],
    ['unexpected status 500 Internal Server Error', 'unavailable'],
    ['something unknown', 'unavailable'],
  ])('a failed turn with "%s" is %s', (message, reason) => {
    const { end } = play({ type: 'turn.failed', error: { message } })
    expect(end.failure).toEqual({ reason, message })
  })

  test('an error from which the turn recovered is not a failure', () => {
    const error = { type: 'error', message: 'Reconnecting... 1/5 (stream disconnected)' }
    expect(play(error).end.failure?.reason).toBe('unavailable')
    expect(play(error, { type: 'turn.completed', usage: {} }).end.failure).toBeNull()
  })

  test('a failing command keeps its exit code and a declined one has none', () => {
    const failing = {
      id: 'a',
      type: 'command_execution',
      command: 'false',
      aggregated_output: 'x',
      exit_code: 1,
      status: 'failed',
    }
    const declined = {
      id: 'b',
      type: 'command_execution',
      command: 'rm',
      aggregated_output: '',
      exit_code: null,
      status: 'declined',
    }
    const { events } = play(
      { type: 'item.completed', item: failing },
      { type: 'item.completed', item: declined },
    )
    expect(events).toEqual([
      {
        event: 'tool_call',
        id: 'a',
        tool: 'command_execution',
        command: 'false',
        input: { command: 'false' },
      },
      { event: 'tool_result', id: 'a', output: 'x', exit_code: 1, is_error: true },
      { event: 'tool_call', id: 'b', tool: 'command_execution', command: 'rm', input: { command: 'rm' } },
      { event: 'tool_result', id: 'b', output: '', is_error: true },
    ])
  })

  test('usage is reported as the total of the thread, including cached tokens', () => {
    const usage = (input_tokens: number) => ({ input_tokens, cached_input_tokens: 40, output_tokens: 10 })
    const { end } = play(
      { type: 'turn.completed', usage: usage(100) },
      { type: 'turn.completed', usage: usage(150) },
    )
    expect(end.tokens).toEqual({ input: 110, output: 10, cacheRead: 40, cacheWrite: 0, thinking: 0 })
    expect(end.costUsd).toBeNull()
  })

  test('a call of an MCP tool names server and tool', () => {
    const item = { id: 'm', type: 'mcp_tool_call', server: 'docs', tool: 'find', arguments: { q: 'x' } }
    const done = { ...item, result: { content: [{ type: 'text', text: 'found' }] }, status: 'completed' }
    const { events } = play({ type: 'item.started', item }, { type: 'item.completed', item: done })
    expect(events).toEqual([
      { event: 'tool_call', id: 'm', tool: 'docs.find', input: { q: 'x' } },
      { event: 'tool_result', id: 'm', output: 'found', is_error: false },
    ])
  })
})

function play(...lines: readonly object[]) {
  const parser = createStreamParser()
  const events = lines.flatMap((line) => parser.push(JSON.stringify(line)))
  return { events, end: parser.end() }
}

test.each([
  [`/bin/bash -lc 'echo hello > hello.txt'`, 'echo hello > hello.txt'],
  [`bash -lc ls`, 'ls'],
  [`/usr/bin/zsh -lc "echo \\"a\\" && echo '\\$b'"`, `echo "a" && echo '$b'`],
  [`sh -c 'it'\\''s'`, `it's`],
  [`/bin/bash -lc "line one\nline two"`, 'line one\nline two'],
])('%j runs %j', (command, inner) => {
  expect(unwrapShell(command)).toBe(inner)
})

test.each(['ls -la', `bash script.sh`, `/bin/bash -lc 'open`, `bash -lc 'a' extra`, '', `fish -c 'x'`])(
  '%j is left unchanged',
  (command) => {
    expect(unwrapShell(command)).toBe(command)
  },
)

test('any quoted text is restored', () => {
  fc.assert(
    fc.property(fc.string(), (inner) => {
      expect(unwrapShell(`/bin/bash -lc '${inner.replaceAll("'", `'\\''`)}'`)).toBe(inner)
    }),
  )
})

test('the words are those of a real shell', () => {
  const command = `/bin/bash -lc "a \\\\ \\x 'q' \\"d\\"" `
  const real = execFileSync('sh', ['-c', `set -- ${command}; printf %s "$3"`], { encoding: 'utf8' })
  expect(unwrapShell(command)).toBe(real)
})
