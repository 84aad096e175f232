import { execFileSync } from 'node:child_process'
import { createReadStream, existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test, vi } from 'vitest'
import { appendOutput, fileOutput, processOutput, streamOutput } from './file-output.ts'

test('the file appears only when the sink is closed', async () => {
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

test('a discarded sink keeps the old file and leaves no temporary file', async () => {
  await using dir = await createFixture({ 'report.txt': 'old' })
  const sink = fileOutput(dir.getPath('report.txt'))
  sink.write('x'.repeat(200_000))
  sink.discard()
  expect(readFileSync(dir.getPath('report.txt'), 'utf8')).toBe('old')
  expect(readdirSync(dir.path)).toEqual(['report.txt'])
})

test('a sink without writes creates an empty file', async () => {
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

test('a reader that disconnected is not an error, and drain does not wait for it', async () => {
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

test('without a terminal COLUMNS decides the width, if it is a number', () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  const stream = (columns: number) =>
    processOutput(Object.assign(new PassThrough(), { columns }) as unknown as NodeJS.WriteStream)
  vi.stubEnv('COLUMNS', '120')
  expect([stream(0).columns, stream(100).columns]).toEqual([120, 100])
  for (const text of ['wide', '0', '-5', '', '99999']) {
    vi.stubEnv('COLUMNS', text)
    expect(stream(0).columns).toBe(80)
  }
})
