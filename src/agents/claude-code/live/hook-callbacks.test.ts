import { expect, test } from 'vitest'
import type { SeenHook } from '../../contract.ts'
import { createHookCallbacks } from './hook-callbacks.ts'

const happened = (callback_id: string, input: unknown = {}) => ({
  subtype: 'hook_callback',
  callback_id,
  input,
})

test('nobody who neither watches nor decides has a hook', () => {
  expect(createHookCallbacks({}).wishes).toEqual([{}])
})

test('who watches has every event, and fewer where a version does not know them all', () => {
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

test('who decides has what he decides about, and no more', () => {
  const beforeTool = async () => ({ kind: 'allow' as const })
  expect(createHookCallbacks({ hooks: { beforeTool } }).wishes.map(Object.keys)).toEqual([['PreToolUse']])
})

test('who watches sees the input as it is, and is not asked for an answer', async () => {
  const seen: SeenHook[] = []
  const callbacks = createHookCallbacks({ onHook: (hook) => seen.push(hook) })
  callbacks.see(happened('Stop', { stop_hook_active: false }))
  callbacks.see({ subtype: 'can_use_tool' })
  expect(seen).toEqual([{ event: 'Stop', input: { stop_hook_active: false }, timestamp: expect.any(Number) }])
  expect(await callbacks.answer(happened('Stop'))).toEqual({})
  expect(await callbacks.answer(happened('Unheard', 7))).toEqual({})
  await expect(callbacks.answer({ subtype: 'can_use_tool' })).rejects.toThrow('can_use_tool')
})

test('facts for the beginning are told once in each conversation', async () => {
  const callbacks = createHookCallbacks({ hooks: { begin: async () => 'a fact' } })
  const prompt = (session_id: string) => callbacks.answer(happened('UserPromptSubmit', { session_id }))
  const told = { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'a fact' } }
  expect([await prompt('one'), await prompt('one'), await prompt('two')]).toEqual([told, {}, told])
})
