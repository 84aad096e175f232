import { execFileSync } from 'node:child_process'
import { createReadStream, existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { appendOutput, fileOutput, streamOutput } from './text-output.ts'

test('a file appears whole when the sink is closed, and not before', async () => {
  await using dir = await createFixture({})
  const path = dir.getPath('deep/er/report.txt')
  const sink = fileOutput(path)
  sink.write('first ')
  sink.write('x'.repeat(200_000))
  expect(existsSync(path)).toBe(false)
  sink.close()
  expect(readFileSync(path, 'utf8')).toBe(`first ${'x'.repeat(200_000)}`)
  expect(readdirSync(dir.getPath('deep/er'))).toEqual(['report.txt'])
})

test('a discarded sink leaves what stood there before and no temporary file', async () => {
  await using dir = await createFixture({ 'report.txt': 'old' })
  const sink = fileOutput(dir.getPath('report.txt'))
  sink.write('x'.repeat(200_000))
  sink.discard()
  expect(readFileSync(dir.getPath('report.txt'), 'utf8')).toBe('old')
  expect(readdirSync(dir.path)).toEqual(['report.txt'])
})

test('a sink that was never written to makes an empty file', async () => {
  await using dir = await createFixture({})
  fileOutput(dir.getPath('empty.txt')).close()
  expect(readFileSync(dir.getPath('empty.txt'), 'utf8')).toBe('')
})

test('a link is followed and stays a link', async () => {
  await using dir = await createFixture({ 'real.txt': 'old' })
  symlinkSync('real.txt', dir.getPath('link.txt'))
  const sink = fileOutput(dir.getPath('link.txt'))
  sink.write('new')
  sink.close()
  expect(readFileSync(dir.getPath('real.txt'), 'utf8')).toBe('new')
  expect(lstatSync(dir.getPath('link.txt')).isSymbolicLink()).toBe(true)
})

test('a named pipe is written to and not replaced by a file', async () => {
  await using dir = await createFixture({})
  const pipe = dir.getPath('pipe')
  execFileSync('sh', ['-c', 'mkfifo "$0"', pipe])
  const reader = createReadStream(pipe, 'utf8')
  let read = ''
  const ended = new Promise<void>((resolve) => reader.on('end', () => resolve()))
  reader.on('data', (chunk) => {
    read += chunk
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  const sink = fileOutput(pipe)
  sink.write('through the pipe')
  sink.close()
  await ended
  expect(read).toBe('through the pipe')
  expect(lstatSync(pipe).isFIFO()).toBe(true)
})

test('a path that cannot be written is an error that names it', async () => {
  await using dir = await createFixture({ 'file.txt': '' })
  const below = fileOutput(dir.getPath('file.txt/report.txt'))
  below.write('x')
  expect(() => below.close()).toThrow(expect.objectContaining({ code: 'NOT_WRITABLE' }))
  expect(() => fileOutput(dir.path).close()).toThrow(/cannot be written/)
})

test('appending keeps what others wrote', async () => {
  await using dir = await createFixture({ 'summary.md': 'theirs\n' })
  const sink = appendOutput(dir.getPath('summary.md'))
  sink.write('ours\n')
  sink.write('and more\n')
  expect(readFileSync(dir.getPath('summary.md'), 'utf8')).toBe('theirs\nours\nand more\n')
})

test('drain waits for a slow reader', async () => {
  const stream = new PassThrough({ highWaterMark: 10 })
  const sink = streamOutput(stream)
  sink.write('x'.repeat(100))
  let drained = false
  const waiting = sink.drain().then(() => {
    drained = true
  })
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(drained).toBe(false)
  stream.resume()
  await waiting
  expect(drained).toBe(true)
})

test('a reader that went away is no error, and nobody waits for it', async () => {
  const stream = new PassThrough({ highWaterMark: 10 })
  const sink = streamOutput(stream)
  sink.write('x'.repeat(100))
  const waiting = sink.drain()
  stream.destroy(Object.assign(new Error('gone'), { code: 'EPIPE' }))
  await waiting
  expect(() => sink.write('more')).not.toThrow()
})

test('any other failure of the stream is thrown at the next write', async () => {
  const stream = new PassThrough()
  const sink = streamOutput(stream)
  stream.destroy(Object.assign(new Error('disk'), { code: 'EIO' }))
  await new Promise((resolve) => setImmediate(resolve))
  expect(() => sink.write('more')).toThrow('The output cannot be written (EIO).')
})
