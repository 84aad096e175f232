import { expect, test } from 'vitest'
import { launchFailure } from './bubblewrap/failure.ts'
import { failureOf } from './docker/call-engine.ts'

test.each([
  'write /x: no space left on device',
  'write /x: Disk quota exceeded',
  'bwrap: Cannot allocate memory',
  'container init was killed: out of memory',
  'fork: Resource temporarily unavailable',
  'open: too many open files',
  'cannot fork: pids limit reached',
])('every engine treats «%s» as exhaustion', (message) => {
  expect(launchFailure(message).type).toBe('resource_exhaustion')
  expect(failureOf({ kind: 'refused', status: 500, message }, 'unknown', 'x').type).toBe(
    'resource_exhaustion',
  )
})

test('other messages are not exhaustion', () => {
  expect(launchFailure('bwrap: setting up uid map: Permission denied').type).toBe('container_creation')
})
