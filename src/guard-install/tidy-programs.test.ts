import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { appendNote } from '../guard-engine/ledger/open-ledger.ts'
import { hookLauncher, unusedMark, writeLauncher, writtenLaunchers } from './hook-launcher.ts'
import { writeReceipt } from './receipt.ts'
import { tidyPrograms } from './tidy-programs.ts'

const dayMs = 24 * 60 * 60_000
const nowMs = Date.parse('2026-06-01T00:00:00Z')

let home: string
let env: { readonly GANTRY_GUARD_HOME: string }
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gantry-tidy-'))
  env = { GANTRY_GUARD_HOME: join(home, 'guard') }
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function launcher(version: string): string {
  const made = hookLauncher('claude-code', { node: '/opt/node', hookBin: `/opt/${version}/hook-bin.js` }, env)
  if (made === null) throw new Error('no launcher')
  writeLauncher(made)
  return made.path
}

function receiptOf(name: string, text: string): void {
  const path = join(home, name)
  writeFileSync(path, text)
  writeReceipt(env, { path, original: null, written: [], directories: [], backups: [] })
}

function age(path: string, days: number): void {
  const seconds = (nowMs - days * dayMs) / 1000
  utimesSync(path, seconds, seconds)
}

test('a launcher without a receipt is marked, no longer sealed, and removed after a month', () => {
  const [used, left] = [launcher('new'), launcher('old')]
  receiptOf('settings.json', JSON.stringify({ command: used }))
  tidyPrograms(env, nowMs)
  expect([existsSync(used), existsSync(left)]).toEqual([true, true])
  expect(writtenLaunchers(env)).toEqual([used])
  age(unusedMark(left), 29)
  tidyPrograms(env, nowMs)
  expect(existsSync(left)).toBe(true)
  age(unusedMark(left), 31)
  tidyPrograms(env, nowMs)
  expect(existsSync(used)).toBe(true)
  expect(existsSync(dirname(left))).toBe(false)
})

test('a launcher that is used again loses its mark', () => {
  const path = launcher('old')
  tidyPrograms(env, nowMs)
  age(unusedMark(path), 31)
  receiptOf('settings.json', JSON.stringify({ command: path }))
  tidyPrograms(env, nowMs)
  expect(existsSync(unusedMark(path))).toBe(false)
  expect(writtenLaunchers(env)).toEqual([path])
})

test("a launcher that a project's seal expects stays until that project is sealed again", () => {
  const path = launcher('old')
  const seal = (files: Record<string, string | null>) =>
    appendNote({
      guardHome: env.GANTRY_GUARD_HOME,
      root: '/home/dev/shop',
      note: { kind: 'sealed', files },
      nowMs,
    })
  seal({ [path]: 'x' })
  tidyPrograms(env, nowMs)
  age(unusedMark(path), 31)
  tidyPrograms(env, nowMs)
  expect(existsSync(path)).toBe(true)
  seal({ [path]: null })
  tidyPrograms(env, nowMs)
  expect(existsSync(path)).toBe(false)
})

test('compiled code of a program not started for a month is removed, used and foreign files stay', () => {
  const cache = join(env.GANTRY_GUARD_HOME, 'cache')
  const [old, used, other] = ['hook-v1-x64-1-1', 'hook-v2-x64-2-2', 'mine'].map((name) => join(cache, name))
  for (const directory of [old, used, other]) {
    mkdirSync(join(directory ?? '', 'PreToolUse'), { recursive: true })
    age(directory ?? '', 40)
  }
  age(join(old ?? '', 'PreToolUse'), 31)
  age(join(used ?? '', 'PreToolUse'), 3)
  age(join(other ?? '', 'PreToolUse'), 90)
  tidyPrograms(env, nowMs)
  expect([old, used, other].map((path) => existsSync(path ?? ''))).toEqual([false, true, true])
})

test('a damaged receipt does not stop the cleanup, and nothing is created without a guard', () => {
  tidyPrograms(env, nowMs)
  expect(existsSync(env.GANTRY_GUARD_HOME)).toBe(false)
  const path = launcher('old')
  mkdirSync(join(env.GANTRY_GUARD_HOME, 'installs'))
  writeFileSync(join(env.GANTRY_GUARD_HOME, 'installs/x.json'), '{')
  tidyPrograms(env, nowMs)
  expect(existsSync(unusedMark(path))).toBe(true)
})
