import { expect, test } from 'vitest'
import type { SeenHook } from '../../contract.ts'
import { createHookCallbacks } from './hook-callbacks.ts'

const happened = (callback_id: string, input: unknown = {}) => ({
  subtype: 'hook_callback',
  callback_id,
  input,
})

test('without observers and hooks no event is registered', () => {
  expect(createHookCallbacks({}).wishes).toEqual([{}])
})

test('an observer gets every event, and fewer where a version does not support them all', () => {
  const [all = {}, fewer = {}] = createHookCallbacks({ onHook: () => {} }).wishes
  expect(Object.keys(all).sort()).toEqual([
    'Notification',
    'PermissionDenied',
    'PostCompact',
    'PostToolUse',
    'PostToolUseFailure',
    'PreCompact',
    'PreToolUse',
    'SessionEnd',
    'SessionStart',
    'Stop',
    'StopFailure',
    'SubagentStart',
    'SubagentStop',
    'UserPromptExpansion',
    'UserPromptSubmit',
  ])
  expect(all.Stop).toEqual([{ hookCallbackIds: ['Stop'] }])
  expect(Object.keys(fewer).length).toBe(9)
})

test('hooks get only the events that they decide about', () => {
  const beforeTool = async () => ({ kind: 'allow' as const })
  expect(createHookCallbacks({ hooks: { beforeTool } }).wishes.map(Object.keys)).toEqual([['PreToolUse']])
})

test('an observer gets the exact input, and its answer is not used', async () => {
  const seen: SeenHook[] = []
  const callbacks = createHookCallbacks({ onHook: (hook) => seen.push(hook) })
  callbacks.see(happened('Stop', { stop_hook_active: false }))
  callbacks.see({ subtype: 'can_use_tool' })
  expect(seen).toEqual([{ event: 'Stop', input: { stop_hook_active: false }, timestamp: expect.any(Number) }])
  expect(await callbacks.answer(happened('Stop'))).toEqual({})
  expect(await callbacks.answer(happened('Unheard', 7))).toEqual({})
  await expect(callbacks.answer({ subtype: 'can_use_tool' })).rejects.toThrow('can_use_tool')
})

test('the start context is given once per conversation', async () => {
  const callbacks = createHookCallbacks({ hooks: { begin: async () => 'a fact' } })
  const prompt = (session_id: string) => callbacks.answer(happened('UserPromptSubmit', { session_id }))
  const withContext = {
    hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'a fact' },
  }
  expect([await prompt('one'), await prompt('one'), await prompt('two')]).toEqual([
    withContext,
    {},
    withContext,
  ])
})
