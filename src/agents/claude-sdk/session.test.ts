import { describe, expect, test } from 'vitest'
import { asArray, asObject, type JsonObject } from '../../core/json-fields.ts'
import type { AgentHooks } from '../contract.ts'
import { sdkHooks } from './session.ts'

describe('hooks in the form of the SDK', () => {
  test('only the given hooks are registered', () => {
    expect(sdkHooks({})).toEqual({})
    expect(Object.keys(sdkHooks({ afterTool: async () => null }))).toEqual([
      'PostToolUse',
      'PostToolUseFailure',
    ])
  })

  test('a denied tool is denied with its reason, an allowed one is left to the permission mode', async () => {
    const ask = (decision: Awaited<ReturnType<NonNullable<AgentHooks['beforeTool']>>>) =>
      call({ beforeTool: async () => decision }, 'PreToolUse', { tool_name: 'Bash', tool_input: {} })
    expect(await ask({ kind: 'allow' })).toEqual({})
    expect(await ask({ kind: 'deny', reason: 'no' })).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' },
    })
  })

  test('a failing check denies', async () => {
    const beforeTool = () => Promise.reject(new Error('broken'))
    const beforeStop = () => Promise.reject(new Error('broken'))
    expect(await call({ beforeTool }, 'PreToolUse', {})).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringContaining('broken'),
      },
    })
    expect(await call({ beforeStop }, 'Stop', {})).toMatchObject({ decision: 'block' })
  })

  test.each([
    [
      'PostToolUse',
      { tool_name: 'Bash', tool_response: { stdout: 'out', stderr: 'err' } },
      { tool: 'Bash', output: 'out\nerr', exitCode: 0 },
    ],
    [
      'PostToolUseFailure',
      { tool_name: 'Bash', error: 'Exit code 3\nbroken' },
      { tool: 'Bash', output: 'Exit code 3\nbroken', exitCode: 3, isError: true },
    ],
    ['PostToolUse', { tool_name: 'Read', tool_response: { a: 1 } }, { tool: 'Read', output: '{"a":1}' }],
    ['PostToolUse', { tool_name: 'Read', tool_response: 'text' }, { tool: 'Read', output: 'text' }],
  ])('%s reports output and exit code', async (event, input, expected) => {
    const seen: unknown[] = []
    await call({ afterTool: async (result) => void seen.push(result) }, event, { tool_input: 'in', ...input })
    expect(seen).toEqual([{ input: 'in', ...expected }])
  })

  test('context from a hook reaches the model: at the first prompt only, and after a tool', async () => {
    const hooks = sdkHooks({ begin: async () => 'the map' })
    const [hook] = asArray(asObject(hooks.UserPromptSubmit?.[0])?.hooks)
    if (typeof hook !== 'function') throw new Error('no hook')
    expect(await hook({})).toEqual({
      hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'the map' },
    })
    expect(await hook({})).toEqual({})
    const after = { afterTool: async () => 'a loop' }
    expect(await call(after, 'PostToolUseFailure', { error: 'Exit code 1' })).toEqual({
      hookSpecificOutput: { hookEventName: 'PostToolUseFailure', additionalContext: 'a loop' },
    })
  })

  test('a refused stop makes the agent continue', async () => {
    const stop = (decision: 'allow' | 'refuse') =>
      call({ beforeStop: async () => ({ kind: decision, reason: 'not yet' }) }, 'Stop', {})
    expect(await stop('allow')).toEqual({})
    expect(await stop('refuse')).toEqual({ decision: 'block', reason: 'not yet' })
  })
})

async function call(hooks: AgentHooks, event: string, input: JsonObject): Promise<unknown> {
  const [hook] = asArray(asObject(sdkHooks(hooks)[event]?.[0])?.hooks)
  if (typeof hook !== 'function') throw new Error(`no hook for ${event}`)
  return hook(input)
}
