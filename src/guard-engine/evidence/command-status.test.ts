import { expect, test } from 'vitest'
import { declaredAs } from '../../../test/support/guard-story.ts'
import type { EvidenceHistory } from '../contract.ts'
import { commandStatus } from './command-status.ts'

const whole = 'npm run build && npm test'

function statusAfter(...runs: readonly (readonly [command: string, exitCode?: number])[]) {
  const byCommand = Object.fromEntries(
    runs.map(([command, exitCode = 0], index): [string, EvidenceHistory['byCommand'][string]] => {
      const kind = command === 'npm test' ? 'test' : command === whole ? 'other' : 'build'
      return [
        command,
        {
          kind,
          command,
          exitCode,
          treeHash: 'T',
          startedAt: `2026-01-01T00:00:0${index}.000Z`,
          durationMs: 1,
          by: 'agent',
        },
      ]
    }),
  )
  return commandStatus(declaredAs(whole, { kind: 'other' }), { byCommand, rejected: {} }, 'T')
}

test('a declared chain is green when its parts are', () => {
  expect(statusAfter(['npm run build'], ['npm test'])).toMatchObject({ kind: 'green' })
  expect(statusAfter([whole, 1], ['npm run build'], ['npm test'])).toMatchObject({ kind: 'green' })
})

test('tests before the build ran on what an earlier build made', () => {
  const { kind, text } = statusAfter(['npm test'], ['npm run build'])
  expect(kind).not.toBe('green')
  expect(text).toBe('`npm test` ran before `npm run build`')
})

test('green parts do not hide that the whole failed after them', () => {
  expect(statusAfter(['npm run build'], ['npm test'], [whole, 1])).toMatchObject({ kind: 'red' })
})
