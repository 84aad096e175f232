import { expect, test } from 'vitest'
import type { JsonObject } from '../../../core/json-fields.ts'
import { createExchanges } from './exchanges.ts'

const init = { type: 'system', subtype: 'init' }
const result = (name: string): JsonObject => ({ type: 'result', name })
const agent = { type: 'system', subtype: 'task_started', task_id: 't', task_type: 'local_agent' }
const agentEnd = { type: 'system', subtype: 'task_notification', task_id: 't' }
const state = (name: string): JsonObject => ({ type: 'command_lifecycle', command_uuid: 'mine', state: name })

test('a message ends with the first result after it, when the program does not report what it works on', async () => {
  expect(await played([init, result('a')])).toBe('a')
  expect(await played([init])).toBeNull()
})

test('a result before the program started the message does not belong to it', async () => {
  expect(await played([state('queued'), init, result('other')])).toBeNull()
  expect(await played([state('queued'), result('other'), state('started'), init, result('own')])).toBe('own')
})

test('waits for background subagents, and for the turn that their end starts', async () => {
  expect(await played([init, agent, result('early')])).toBeNull()
  expect(await played([init, agent, result('early'), agentEnd])).toBeNull()
  expect(await played([init, agent, result('early'), agentEnd, init, result('late')])).toBe('late')
})

test('after an interruption no other turn is waited for', async () => {
  expect(await played([init, agent, result('early'), 'interrupted', agentEnd])).toBe('early')
  expect(await played([init, agent, result('early'), agentEnd, 'interrupted'])).toBe('early')
  expect(await played([init, 'interrupted'])).toBeNull()
  expect(await played([init, 'interrupted', result('cut')])).toBe('cut')
})

test('a turn without a message is recognised, and ends with its result', async () => {
  const exchanges = createExchanges()
  exchanges.see(init)
  expect(exchanges.isIdle()).toBe(true)
  exchanges.begin('mine').end()
  exchanges.see(init)
  expect(exchanges.isIdle()).toBe(false)
  const idle = exchanges.idle()
  exchanges.see(result('stray'))
  await idle
  expect(exchanges.isIdle()).toBe(true)
})

test('a turn that starts at the same moment is not part of the previous message', async () => {
  const exchanges = createExchanges()
  const exchange = exchanges.begin('mine')
  for (const line of [init, result('own'), init]) exchanges.see(line)
  expect([exchanges.isAsked(), exchanges.isIdle()]).toEqual([false, false])
  expect(await exchange.done).toEqual(result('own'))
  const next = exchanges.begin('next')
  exchange.end()
  expect(exchanges.isAsked()).toBe(true)
  next.end()
  expect(exchanges.isAsked()).toBe(false)
})

test('a background command is not waited for, and can be listed', async () => {
  const exchanges = createExchanges()
  exchanges.see({ ...agent, task_id: 'c', task_type: 'local_bash' })
  exchanges.see(agent)
  expect(exchanges.tasks()).toEqual(['c', 't'])
  exchanges.see({ type: 'system', subtype: 'background_tasks_changed', tasks: [{ task_id: 'c' }] })
  expect(exchanges.tasks()).toEqual(['c'])
  const exchange = exchanges.begin('mine')
  exchanges.see(result('a'))
  expect(await exchange.done).toEqual(result('a'))
})

/** The name of the result that ended it; null when none did. */
async function played(lines: readonly (JsonObject | 'interrupted')[]): Promise<unknown> {
  const exchanges = createExchanges()
  const exchange = exchanges.begin('mine')
  for (const line of lines) {
    if (line === 'interrupted') exchanges.expectNoMore()
    else exchanges.see(line)
  }
  const ended = await Promise.race([exchange.done, Promise.resolve(null)])
  return ended?.name ?? null
}
