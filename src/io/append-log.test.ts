import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { needs } from '../../test/support/needs.ts'
import { openAppendLog } from './append-log.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-append-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

test('appends to an existing file immediately', () => {
  const path = join(root, 'log')
  writeFileSync(path, 'one\n')
  const log = openAppendLog(path)
  log.append('two\n')
  log.append('three\nfour\n')
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\nfour\n')
  log.close()
})

test('a torn last line does not corrupt the next', () => {
  const path = join(root, 'log')
  writeFileSync(path, 'one\n{"to')
  const log = openAppendLog(path)
  log.append('two\n')
  log.append('three\n')
  log.close()
  expect(readFileSync(path, 'utf8')).toBe('one\n{"to\ntwo\nthree\n')
})

test('creates no file until something is appended', () => {
  const log = openAppendLog(join(root, 'missing', 'log'))
  log.close()
  expect(() => log.append('x\n')).toThrow('its directory is not there any more')
})

needs('/dev/full', existsSync('/dev/full'))('a full device is reported as NO_SPACE', () => {
  const log = openAppendLog('/dev/full')
  expect(() => log.append('x\n')).toThrow(expect.objectContaining({ code: 'NO_SPACE' }))
  log.close()
})
