import { linkSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { appendRotating } from './rotating-log.ts'

const logIn = (directory: string, maxBytes = 1000) => ({
  path: join(directory, 'log.jsonl'),
  olderPath: (number: number) => join(directory, `log.${number}.jsonl`),
  keep: 2,
  maxBytes,
})

test.each([
  ['a second name', linkSync],
  ['a link', symlinkSync],
])('%s to another file in place of the log is replaced, and that file is unchanged', async (_name, link) => {
  await using fixture = await createFixture({ 'other.txt': 'mine\n' })
  const log = logIn(fixture.path)
  link(join(fixture.path, 'other.txt'), log.path)
  appendRotating(log, 'one\n')
  appendRotating(log, 'two\n')
  expect(readFileSync(join(fixture.path, 'other.txt'), 'utf8')).toBe('mine\n')
  expect(readFileSync(log.path, 'utf8')).toBe('one\ntwo\n')
  expect(statSync(log.path).nlink).toBe(1)
})

test('anything but a file in place of the log is reported and not changed', async () => {
  await using fixture = await createFixture({ 'a/keep': '', 'b/log.jsonl': 'x'.repeat(30) })
  mkdirSync(join(fixture.path, 'a/log.jsonl'))
  expect(() => appendRotating(logIn(join(fixture.path, 'a')), 'one\n')).toThrow('it is not a file')
  const socket = createServer().listen(join(fixture.path, 's'))
  await new Promise((resolve) => socket.on('listening', resolve))
  expect(() => appendRotating({ ...logIn(fixture.path), path: join(fixture.path, 's') }, 'one\n')).toThrow(
    'it is not a file',
  )
  socket.close()
  mkdirSync(join(fixture.path, 'b/log.jsonl.lock'))
  expect(() => appendRotating(logIn(join(fixture.path, 'b'), 20), 'one\n')).toThrow('it is not a file')
})

test('a directory in place of the oldest log is reported as a GantryError', async () => {
  await using fixture = await createFixture({ 'log.jsonl': 'x'.repeat(30), 'log.2.jsonl/keep': '' })
  expect(() => appendRotating(logIn(fixture.path, 20), 'one\n')).toThrow(
    expect.objectContaining({ code: 'NOT_WRITABLE' }),
  )
})
