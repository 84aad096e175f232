import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeStreamParser } from '../stream.conformance.ts'
import { createStreamParser } from './stream.ts'

describeStreamParser('copilot', createStreamParser, join(import.meta.dirname, 'fixtures'))

describe('the copilot stream', () => {
  test.each([
    [{ errorType: 'authentication', message: 'x', statusCode: 401 }, 'auth'],
    [{ errorType: 'quota', message: 'x' }, 'rate_limit'],
    [{ errorType: 'rate_limit', message: 'x', statusCode: 429 }, 'rate_limit'],
    [{ errorType: 'context_limit', message: 'x' }, 'context'],
    [{ errorType: 'query', message: "Request exceeds the model's prompt budget" }, 'context'],
    [{ errorType: 'query', message: 'Last error: 500 boom', statusCode: 500 }, 'unavailable'],
    [{ errorType: 'query', message: "Model 'm' not found", statusCode: 404 }, 'unavailable'],
    [{}, 'unavailable'],
  ])('%j is the failure %s', (data, reason) => {
    expect(play({ type: 'session.error', data }).end.failure?.reason).toBe(reason)
  })

  test('a failed call after which the model answered is not a failure', () => {
    const call = { type: 'model.call_failure', data: { statusCode: 429, errorMessage: 'Rate limit' } }
    const answer = { type: 'assistant.message', data: { messageId: 'm', content: 'Here.' } }
    expect(play(call).end.failure?.reason).toBe('rate_limit')
    expect(play(call, answer).end.failure).toBeNull()
  })

  test('a failed call of a subagent is not a failure of the agent', () => {
    const call = { type: 'model.call_failure', data: { statusCode: 429, parentToolCallId: 'task' } }
    expect(play(call).end.failure).toBeNull()
  })

  test('the complete output of a command is reported, however little of it the model saw', () => {
    const start = {
      type: 'tool.execution_start',
      data: { toolCallId: 'a', toolName: 'bash', arguments: { command: 'yes' } },
    }
    const piece = (id: string, text: string) => ({
      type: 'tool.shell_output',
      id,
      data: { toolCallId: 'a', text },
    })
    const done = {
      type: 'tool.execution_complete',
      data: {
        toolCallId: 'a',
        success: true,
        shellExecution: { exitCode: 3 },
        result: { content: 'too large' },
      },
    }
    const { events } = play(start, piece('1', 'one '), piece('1', 'one '), piece('2', 'two'), done)
    expect(events.at(-1)).toEqual({
      event: 'tool_result',
      id: 'a',
      output: 'one two',
      exit_code: 3,
      is_error: true,
    })
  })

  test('the line that Copilot adds for the model is not part of the output', () => {
    const done = {
      type: 'tool.execution_complete',
      data: {
        toolCallId: 'a',
        success: true,
        result: { content: 'hi\n<shellId: 0 completed with exit code 0>' },
      },
    }
    expect(play(done).events).toEqual([{ event: 'tool_result', id: 'a', output: 'hi', is_error: false }])
  })

  test('a failed tool reports the reason', () => {
    const data = { toolCallId: 'a', success: false, error: { message: 'Denied by preToolUse hook: no' } }
    expect(play({ type: 'tool.execution_complete', data }).events).toEqual([
      { event: 'tool_result', id: 'a', output: 'Denied by preToolUse hook: no', is_error: true },
    ])
  })

  test('a tool of an MCP server is named with its server', () => {
    const data = {
      toolCallId: 'a',
      toolName: 'docs-find',
      mcpServerName: 'docs',
      mcpToolName: 'find',
      arguments: { q: 'x' },
    }
    expect(play({ type: 'tool.execution_start', data }).events).toEqual([
      { event: 'tool_call', id: 'a', tool: 'docs.find', input: { q: 'x' } },
    ])
  })

  test('hooks are seen', () => {
    const data = {
      hookInvocationId: 'h',
      hookType: 'preToolUse',
      success: false,
      error: { message: 'broke' },
    }
    expect(play({ type: 'hook.end', data }).events).toEqual([
      { event: 'hook', hook: 'preToolUse', outcome: 'error', output: 'broke' },
    ])
  })

  test('tokens are counted when they are reported, cached ones apart, and the multiplier is not read as money', () => {
    const line = {
      type: 'assistant.usage',
      id: 'u',
      data: { model: 'gpt-5', inputTokens: 100, outputTokens: 20, cacheReadTokens: 30, cost: 1 },
    }
    const { end } = play(line, line)
    expect(end.tokens).toMatchObject({ input: 70, output: 20, cacheRead: 30 })
    expect(end.costUsd).toBeNull()
  })
})

function play(...lines: readonly object[]) {
  const parser = createStreamParser()
  const events = lines.flatMap((line) => parser.push(JSON.stringify(line)))
  return { events: events.filter(({ event }) => event !== 'raw'), end: parser.end() }
}
