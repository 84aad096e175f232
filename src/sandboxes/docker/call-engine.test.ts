import { expect, test } from 'vitest'
import { failureOf } from './call-engine.ts'

test.each([
  ['write /data/x: no space left on device', 'resource_exhaustion'],
  ['fork/exec /usr/bin/containerd-shim: resource temporarily unavailable', 'resource_exhaustion'],
  ['No such image: node:24', 'image_pull'],
  ['invalid mount config for type "bind"', 'container_creation'],
])('«%s» is %s', (message, type) => {
  const failure = failureOf(
    { kind: 'refused', status: 500, message },
    'container_creation',
    'the container cannot be created',
  )
  expect(failure).toEqual({ type, message: `The container cannot be created: ${message}.` })
})

test('an engine that is gone is unavailable, whatever the request', () => {
  const failure = failureOf({ kind: 'gone', message: 'the engine does not answer' }, 'unknown', 'x')
  expect(failure).toEqual({ type: 'docker_unavailable', message: 'The engine does not answer.' })
})
