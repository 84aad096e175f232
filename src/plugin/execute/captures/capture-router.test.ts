import { expect, test } from 'vitest'
import { type CaptureRouter, createCaptureRouter } from './capture-router.ts'

const pre = (id: string, more: object = {}) => ({
  event: 'PreToolUse',
  input: { session_id: 's1', tool_name: 'Skill', tool_input: { skill: 'a' }, tool_use_id: id, ...more },
  timestamp: 1,
})
const post = (id: string, more: object = {}) => ({
  event: 'PostToolUse',
  input: { session_id: 's1', tool_use_id: id, tool_response: 'ok', ...more },
  timestamp: 2,
})

/** A router in the middle of a scenario whose conversation is `session`. */
function asked(session: string, captureRouter: CaptureRouter = createCaptureRouter(0)): CaptureRouter {
  captureRouter.turn()
  captureRouter.event({ event: 'session', agent: 'claude-code', session_id: session }, 0)
  captureRouter.turned()
  captureRouter.ask()
  return captureRouter
}

test('a call is identified by its id, in whatever order calls end', () => {
  const captureRouter = asked('s1')
  captureRouter.hook(pre('a'))
  captureRouter.hook(pre('b'))
  captureRouter.hook({
    event: 'PostToolUseFailure',
    input: { tool_use_id: 'b', error: 'broke', is_interrupt: true },
    timestamp: 3,
  })
  captureRouter.hook(post('a'))
  expect(captureRouter.captures().tools).toMatchObject([
    { tool_use_id: 'a', success: true, result: 'ok' },
    { tool_use_id: 'b', success: false, error: 'broke', is_interrupt: true },
  ])
})

test('an end that no hook reported is taken from the conversation, never the other way round', () => {
  const captureRouter = asked('s1')
  for (const id of ['a', 'b', 'c', 'd']) captureRouter.hook(pre(id))
  captureRouter.hook(post('c'))
  captureRouter.event({ event: 'tool_result', id: 'a', output: 'denied', is_error: true }, 4)
  captureRouter.event({ event: 'tool_result', id: 'b', output: 'fine', is_error: false }, 4)
  captureRouter.event({ event: 'tool_result', id: 'c', output: 'late', is_error: true }, 4)
  captureRouter.event({ event: 'tool_result', id: 'd', output: 'who knows' }, 4)
  expect(captureRouter.captures().tools.map(({ success, error }) => [success, error])).toEqual([
    [false, 'denied'],
    [true, undefined],
    [true, undefined],
    [undefined, undefined],
  ])
})

test('late reports of an earlier conversation are not added to a later sheet', () => {
  const captureRouter = asked('s1')
  captureRouter.hook(pre('same', { agent_id: undefined }))
  captureRouter.hook({
    event: 'SubagentStart',
    input: { session_id: 's1', agent_id: 'old', agent_type: 'x' },
    timestamp: 1,
  })
  captureRouter.answered()
  expect(captureRouter.captures().tools).toHaveLength(1)
  asked('s2', captureRouter)
  captureRouter.hook(pre('late'))
  captureRouter.hook(post('same'))
  captureRouter.hook(pre('by-old-agent', { session_id: 's2', agent_id: 'old' }))
  expect(captureRouter.event({ event: 'hook', hook: 'Stop', session_id: 's1', outcome: 'success' }, 5)).toBe(
    'none',
  )
  expect(captureRouter.captures()).toMatchObject({ tools: [], subagents: [], hookResponses: [] })
  captureRouter.hook(pre('same', { session_id: 's2' }))
  expect(captureRouter.captures().tools).toMatchObject([{ tool_use_id: 'same' }])
  expect(captureRouter.captures().tools[0]?.success).toBeUndefined()
})

test('during a clear, the session end belongs to the last scenario and the start to the next', () => {
  const captureRouter = createCaptureRouter(7)
  captureRouter.event(
    { event: 'hook', hook: 'SessionStart', name: 'SessionStart:startup', outcome: 'success' },
    8,
  )
  captureRouter.event(
    { event: 'hook', hook: 'SessionStart', name: 'SessionStart:clear', outcome: 'success' },
    8,
  )
  asked('s1', captureRouter)
  captureRouter.answered()
  captureRouter.turn()
  expect(captureRouter.event({ event: 'hook', hook: 'SessionEnd', name: 'SessionEnd:clear' }, 9)).toBe(
    'asked',
  )
  expect(captureRouter.event({ event: 'hook', hook: 'SessionStart', name: 'SessionStart:clear' }, 9)).toBe(
    'next',
  )
  captureRouter.hook({ event: 'SessionEnd', input: { reason: 'clear' }, timestamp: 9 })
  captureRouter.hook({ event: 'SessionStart', input: { source: 'clear' }, timestamp: 10 })
  captureRouter.turned()
  expect(captureRouter.captures().hookResponses.map(({ hook_name }) => hook_name)).toEqual([
    'SessionStart:startup',
    'SessionEnd:clear',
  ])
  expect(captureRouter.captures().timing).toEqual({
    starts: [{ source: 'startup', timestamp: 7 }],
    end: { reason: 'clear', timestamp: 9 },
  })
  // An unused conversation is cleared once more.
  captureRouter.turn()
  captureRouter.hook({ event: 'SessionEnd', input: { reason: 'clear' }, timestamp: 99 })
  captureRouter.hook({ event: 'SessionStart', input: { source: 'clear' }, timestamp: 11 })
  captureRouter.turned()
  expect(captureRouter.captures().timing.end?.timestamp).toBe(9)
  captureRouter.ask()
  expect(captureRouter.captures().timing.starts).toEqual([
    { source: 'startup', timestamp: 7 },
    { source: 'clear', timestamp: 11 },
  ])
})

test('nothing is captured between scenarios: setup messages may run hooks too', () => {
  const captureRouter = asked('s1')
  captureRouter.answered()
  captureRouter.hook(pre('between'))
  captureRouter.hook({ event: 'UserPromptExpansion', input: { command_name: 'demo:hi' }, timestamp: 1 })
  expect(captureRouter.event({ event: 'message', role: 'assistant', text: 'x' }, 1)).toBe('none')
  expect(captureRouter.captures()).toMatchObject({ tools: [], expansions: [] })
})

test('a stop of the main thread counts until the agent continues', () => {
  const captureRouter = asked('s1')
  captureRouter.hook({ event: 'Stop', input: { agent_id: 'sub' }, timestamp: 1 })
  expect(captureRouter.captures().stopSeen).toBe(false)
  captureRouter.hook({ event: 'Stop', input: {}, timestamp: 1 })
  expect(captureRouter.captures().stopSeen).toBe(true)
  captureRouter.hook(pre('more'))
  expect(captureRouter.captures().stopSeen).toBe(false)
})

test('a hook response keeps its output, and a hook that only started has none', () => {
  const captureRouter = asked('s1')
  const hook = { event: 'hook', hook: 'PreToolUse', name: 'PreToolUse:Write', hook_id: 'h' } as const
  captureRouter.event({ ...hook, outcome: 'started' }, 1)
  captureRouter.event({ ...hook, outcome: 'error', stdout: 'out', stderr: 'err', exit_code: 2 }, 2)
  captureRouter.event({ event: 'hook', hook: 'Stop', outcome: 'odd', output: 'words' }, 3)
  expect(captureRouter.captures().hookResponses).toEqual([
    {
      hook_name: 'PreToolUse:Write',
      hook_event: 'PreToolUse',
      hook_id: 'h',
      stdout: 'out',
      stderr: 'err',
      exit_code: 2,
      outcome: 'error',
      timestamp: 2,
    },
    { hook_name: 'Stop', hook_event: 'Stop', stdout: 'words', stderr: '', outcome: 'unknown', timestamp: 3 },
  ])
})

test('a large result is cut', () => {
  const captureRouter = asked('s1')
  captureRouter.hook(pre('a'))
  captureRouter.hook(post('a', { tool_response: { content: 'x'.repeat(100_000) } }))
  const [capture] = captureRouter.captures().tools
  expect(String(capture?.result).length).toBeLessThan(17_000)
  expect(String(capture?.result)).toContain('[cut: 100014 characters]')
})
