import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBudget } from '../budget.ts'
import type { Boundary, BoundaryLine, Reply, Responder } from './contract.ts'
import { createFaultPlan, faultsSchema } from './faults.ts'
import { openBoundary } from './open-boundary.ts'

let boundary: Boundary
let line: BoundaryLine
beforeEach(async () => {
  boundary = await openBoundary({ closeGraceMs: 600_000 })
  line = boundary.openLine()
})
afterEach(() => boundary.close())

const prices = { m: { input: 1_000, output: 1_000, cacheRead: 0, cacheWrite: 0 } }

function saying(text: string): Responder {
  const usage = { input: 10, output: 20, cacheRead: 0, cacheWrite: 0 }
  const turn: Reply = { kind: 'turn', turn: { blocks: [{ kind: 'text', text }], stop: 'end', usage } }
  return { name: 'test', answer: async () => turn }
}

async function ask(): Promise<{ readonly status: number; readonly text: string }> {
  const body = JSON.stringify({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] })
  const response = await fetch(`${line.endpoint.url}/v1/messages`, { method: 'POST', body })
  return { status: response.status, text: await response.text() }
}

test('one address serves consecutive sessions, each with its own report', async () => {
  const first = line.open({ responder: saying('first'), prices })
  expect(first.endpoint).toBe(line.endpoint)
  expect((await ask()).text).toContain('first')
  await first.close()
  const second = line.open({ responder: saying('second'), prices })
  expect((await ask()).text).toContain('second')
  expect((await ask()).text).toContain('second')
  await second.close()
  expect(first.report()).toMatchObject({ exchanges: 1, costUsd: 0.03 })
  expect(second.report()).toMatchObject({ exchanges: 2, costUsd: 0.06 })
})

test('a call between two sessions is answered and not counted', async () => {
  const first = line.open({ responder: saying('first') })
  await first.close()
  expect(await ask()).toMatchObject({ status: 200, text: expect.stringContaining('Done.') })
  const second = line.open({ responder: saying('second') })
  await second.close()
  expect([first.report().exchanges, second.report().exchanges]).toEqual([0, 0])
})

test('a session that ended by a mismatch or its budget does not end the next one', async () => {
  const mismatch: Responder = {
    name: 'test',
    answer: async () => ({ kind: 'mismatch', problem: 'not on the tape' }),
  }
  const first = line.open({ responder: mismatch })
  expect((await ask()).status).toBe(402)
  expect(first.stopped.reason).toBe('mismatch')
  await first.close()
  expect(first.report().problem).toBe('not on the tape')
  const poor = line.open({ responder: saying('never'), prices, budget: createBudget(0.000_001) })
  expect((await ask()).status).toBe(402)
  expect(poor.stopped.reason).toBe('over_budget')
  await poor.close()
  const last = line.open({ responder: saying('last') })
  expect((await ask()).text).toContain('last')
  expect(last.report().problem).toBeNull()
})

test('faults are counted per session, not per line', async () => {
  const broken = faultsSchema.parse({ faults: [{ fault: 'server_error', at: 0 }] })
  for (const word of ['one', 'two']) {
    const session = line.open({ responder: saying(word), faults: createFaultPlan(broken) })
    expect((await ask()).status).toBe(500)
    expect((await ask()).text).toContain(word)
    await session.close()
  }
})

test('a call that is running when its session closes stays with that session', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const slow: Responder = {
    name: 'test',
    answer: async (incoming) => {
      arrive()
      await released
      return saying('slow').answer(incoming)
    },
  }
  const first = line.open({ responder: slow })
  const asked = ask()
  await arrived
  const closed = first.close()
  const second = line.open({ responder: saying('second') })
  release()
  expect((await asked).text).toContain('slow')
  await closed
  expect(first.report().exchanges).toBe(1)
  expect(second.report().exchanges).toBe(0)
})

test('two sessions at once are refused, and no call is accepted after the line is closed', async () => {
  line.open({ responder: saying('one') })
  expect(() => line.open({ responder: saying('two') })).toThrow('one session at a time')
  await line.close()
  expect((await ask()).status).toBe(401)
})
