import { expect, test } from 'vitest'
import type { GantryEvent } from '../core/event.ts'
import { gateEvidence, placedCall } from './gate-evidence.ts'

test('a gate of a plugin rests on the calls that its message names', () => {
  const call = (id: string, at: number) =>
    placedCall(at, { ts: at, event: 'tool_call', id, tool: 'Skill' } as GantryEvent, [])
  const message = 'skill demo:greet fired at 12:00:01.000Z, call toolu_1'
  const gate = { type: 'component_triggered', passed: true, message, detail: {}, line: 3 }
  const sources = { events: [call('toolu_1', 10), call('toolu_12', 20)], changed: [], lineOf: () => null }
  expect(gateEvidence([gate], sources)).toEqual([
    [
      { kind: 'event', at: 10, text: 'Skill' },
      { kind: 'scenario', line: 3 },
    ],
  ])
})
