import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { traceLogPaths } from './trace-log.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gantry-trace-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const writers = 50
const each = 20

test('fifty processes at once lose no line, even while the log is rotated', {
  timeout: 600_000,
}, async () => {
  const module = JSON.stringify(join(import.meta.dirname, 'trace-log.ts'))
  const program = `
    const { appendTrace } = await import(${module})
    const writer = Number(process.argv[1])
    for (let number = 0; number < ${each}; number += 1)
      appendTrace({ dir: ${JSON.stringify(dir)}, maxLogSizeMb: 0.25,
        record: { timestamp: '', tool: 'T', input: { key: writer + '.' + number, pad: 'x'.repeat(400) }, result: 'success' } })`
  const codes = await Promise.all(Array.from({ length: writers }, (_, index) => run(program, String(index))))
  expect(codes).toEqual(Array.from({ length: writers }, () => 0))
  const files = traceLogPaths(dir).filter((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)
  expect(files.length).toBeGreaterThan(1)
  const keys = files
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).input.key)
  expect(keys).toHaveLength(writers * each)
  expect(new Set(keys).size).toBe(writers * each)
})

function run(program: string, argument: string): Promise<number | null> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, argument], {
      stdio: 'inherit',
    })
    child.on('error', failed)
    child.on('exit', done)
  })
}
