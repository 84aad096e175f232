import { expect, test } from 'vitest'
import type { AgentOutcome } from '../../agents/contract.ts'
import { terminationOf } from './attempt.ts'
import { commonDirectory } from './live-claude.ts'

const outcome: AgentOutcome = {
  ending: 'exited',
  exitCode: 0,
  finalText: null,
  costUsd: null,
  tokens: null,
  failure: null,
}

test.each([
  [{}, false, true, 'clean'],
  [{ exitCode: 1 }, false, true, 'error'],
  [{ failure: { reason: 'overloaded', message: '' } }, false, true, 'error'],
  [{ ending: 'timed_out' }, false, true, 'interrupted'],
  [{ ending: 'timed_out' }, false, false, 'timeout'],
  [{ ending: 'timed_out' }, true, true, 'clean'],
  [{ ending: 'over_turns' }, false, true, 'interrupted'],
  [{ ending: 'crashed' }, false, false, 'error'],
  [{ ending: 'not_started' }, false, false, 'error'],
] as const)('%o with a stop seen %s and alive %s ended as %s', (more, stopSeen, isAlive, expected) => {
  expect(terminationOf({ ...outcome, ...more }, { stopSeen, isAlive })).toBe(expected)
})

test.each([
  [[], null],
  [['/repo/plugins/a'], '/repo/plugins/a'],
  [['/repo/plugins/a', '/repo/plugins/b'], '/repo/plugins'],
  [['/repo/plugins/a', '/repo/plugins/ab'], '/repo/plugins'],
  [['/repo/plugins', '/repo/plugins/b'], '/repo/plugins'],
  [['/repo/a', '/home/b'], '/repo/a'],
])('%j have %s in common', (directories, common) => {
  expect(commonDirectory(directories)).toBe(common)
})
