import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { askHelper, tryNodeOptions } from './ask-helper.ts'
import { hookLauncher, launchedPrograms, launcherText, writeLauncher } from './hook-launcher.ts'

let base: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'gantry-launcher-'))
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

/** Prints how it was started, except for what the launcher adds, and its input. */
const program = (name: string): string => {
  const path = join(base, name)
  writeFileSync(
    path,
    `console.log(JSON.stringify([process.execPath, ...process.argv.slice(1).filter((word) => !word.startsWith('--launched='))]))
const input = process.getBuiltinModule('node:fs').readFileSync(0, 'utf8')
process.stderr.write(input)
process.exit(input === 'deny' ? 2 : 0)\n`,
  )
  return path
}

function launched(node: string, hookBin: string): string {
  const launcher = hookLauncher('claude-code', { node, hookBin }, { GANTRY_GUARD_HOME: join(base, 'guard') })
  if (launcher === null) throw new Error('no launcher on this system')
  writeLauncher(launcher)
  expect(launchedPrograms(launcher.text)).toEqual([node, hookBin])
  return launcher.path
}

/** Like Claude Code, and like Copilot: through a shell and without arguments. */
const exec = (path: string, args: readonly string[], input = '') =>
  spawnSync(path, args, { input, encoding: 'utf8', cwd: '/' })
const shell = (path: string, input = '') =>
  spawnSync('sh', ['-c', path], { input, encoding: 'utf8', cwd: '/' })

describe('the launcher', () => {
  test('starts the program as if called with its arguments, including answer and exit code', () => {
    const hookBin = program('hook-bin.js')
    const path = launched(process.execPath, hookBin)
    const { stdout, stderr, status } = exec(path, ['PreToolUse'], 'deny')
    expect(JSON.parse(stdout)).toEqual([process.execPath, hookBin, '--agent', 'claude-code', 'PreToolUse'])
    expect({ stderr, status }).toEqual({ stderr: 'deny', status: 2 })
    expect(JSON.parse(shell(path).stdout)).toEqual([process.execPath, hookBin, '--agent', 'claude-code'])
  })

  test('blocks when the program fails, at once or later, even with a value that is not an error', () => {
    const hookBin = join(base, 'hook-bin.js')
    const path = launched(process.execPath, hookBin)
    for (const code of [
      'throw new Error("x")',
      'Promise.reject(new Error("x"))',
      'setTimeout(() => { throw "x" })',
    ]) {
      writeFileSync(hookBin, code)
      const { stderr, status } = exec(path, ['PreToolUse'])
      expect({ status, line: stderr.split('\n')[0] }).toEqual({
        status: 2,
        line: 'the guard itself failed: x',
      })
    }
  })

  test('blocks when the program is empty, as after an update on a full disk', () => {
    const hookBin = join(base, 'hook-bin.js')
    const path = launched(process.execPath, hookBin)
    writeFileSync(hookBin, '')
    expect(exec(path, ['PreToolUse']).status).toBe(2)
    expect(exec(path, ['Stop']).status).toBe(1)
  })

  test('starts Node without options that would end it', () => {
    const path = launched(process.execPath, program('hook-bin.js'))
    for (const NODE_OPTIONS of [`--require ${join(base, 'gone.cjs')}`, '--no-such-option']) {
      const env = { ...process.env, NODE_OPTIONS }
      expect(spawnSync(path, ['PreToolUse'], { input: 'deny', env, cwd: '/' }).status).toBe(2)
    }
  })

  test('starts a Node whose path has a space, a quote or more bytes than the kernel reads', () => {
    const hookBin = program('hook-bin.js')
    for (const name of ["it's a node", 'n'.repeat(200)]) {
      mkdirSync(join(base, name))
      const node = join(base, name, 'node')
      symlinkSync(process.execPath, node)
      const { stdout } = exec(launched(node, hookBin), ['Stop'])
      expect(JSON.parse(stdout)).toEqual([process.execPath, hookBin, '--agent', 'claude-code', 'Stop'])
    }
  })

  test('gives Node options only after this Node knew them, and none for a large payload', async () => {
    const hookBin = join(base, 'hook-bin.js')
    writeFileSync(
      hookBin,
      `const { length } = process.getBuiltinModule('node:fs').readFileSync(0)
console.log(JSON.stringify([process.execArgv.length, length, process.argv.at(-1).endsWith(',fed')]))`,
    )
    const path = launched(process.execPath, hookBin)
    const env = { PATH: process.env.PATH, GANTRY_GUARD_HOME: join(base, 'guard') }
    const started = (input: string) =>
      JSON.parse(spawnSync(path, ['Stop'], { input, encoding: 'utf8', env }).stdout)
    expect(started('{}')).toEqual([0, 2, true])
    const old = join(base, 'node')
    writeFileSync(old, '#!/bin/sh\nexit 9\n', { mode: 0o755 })
    for (const node of [old, process.execPath]) tryNodeOptions(node, env)
    const cache = join(base, 'guard/cache')
    while (!existsSync(cache) || readdirSync(cache).length === 0) await wait(25)
    expect(readdirSync(cache)).toEqual([expect.stringContaining(`-${statSync(process.execPath).size}-`)])
    expect(started('{}')).toEqual([9, 2, true])
    expect(started('x'.repeat(64 * 1024))).toEqual([9, 64 * 1024, true])
    expect(started('x'.repeat(64 * 1024 + 1))).toEqual([0, 64 * 1024 + 1, false])
  })

  test('does not wait for a pipe where the file of the helper should be', () => {
    const hookBin = join(base, 'hook-bin.js')
    writeFileSync(hookBin, 'console.log(process.argv.at(-1))')
    const [path, run] = [launched(process.execPath, hookBin), join(base, 'guard/run')]
    const env = { PATH: process.env.PATH, GANTRY_GUARD_HOME: join(base, 'guard') }
    const ask = () => spawnSync(path, ['Stop'], { input: '{}', encoding: 'utf8', env, timeout: 60_000 })
    const [, name = ''] = ask().stdout.split(',')
    mkdirSync(run)
    expect(spawnSync('mkfifo', ['-m', '600', join(run, name)]).status).toBe(0)
    expect(ask()).toMatchObject({ status: 0, stdout: expect.stringContaining(`,${name},`) })
  })

  test('without Node blocks a tool call with a reason, and no other event', () => {
    const path = launched(join(base, 'no', 'node'), program('hook-bin.js'))
    const before = exec(path, ['PreToolUse'])
    expect(before.status).toBe(2)
    expect(before.stderr).toContain(`the guard itself failed: ${join(base, 'no', 'node')}: No such file`)
    expect(shell(path).status).toBe(2)
    expect(exec(path, ['Stop']).status).toBe(1)
  })

  test('without Perl is started by Node', () => {
    const hookBin = program('hook-bin.js')
    const text = launcherText({
      node: process.execPath,
      hookBin: JSON.stringify(hookBin),
      agent: 'codex',
      ask: null,
    })
    expect(launchedPrograms(text)).toEqual([process.execPath, hookBin])
    const path = join(base, 'gantry-hook.cjs')
    writeFileSync(path, text, { mode: 0o755 })
    const { stdout } = exec(path, ['Stop'])
    expect(JSON.parse(stdout)).toEqual([process.execPath, hookBin, '--agent', 'codex', 'Stop'])
  })

  test('a path that would end the comment of the first lines is started by Node', () => {
    expect(askHelper({ node: '/a*/node', hookBin: '/b.js', agent: 'codex', blocking: [] })).toBeNull()
  })

  test('is not a module of a package above it, and starts a program that is one', () => {
    writeFileSync(join(base, 'package.json'), '{"type": "module"}')
    const hookBin = program('hook-bin.js')
    expect(exec(launched(process.execPath, hookBin), ['Stop']).stdout).toContain(hookBin)
    const source = program('hook-bin.ts')
    writeFileSync(source, `console.log('typed' as string)\nawait 1\n`)
    expect(exec(launched(process.execPath, source), ['Stop']).stdout).toBe('typed\n')
  })

  test.each(['hook-bin.js', 'hook-bin.ts'])(
    'denies a tool call with a reason when %s is missing, and blocks no other event',
    (name) => {
      const path = launched(process.execPath, join(base, 'gone', name))
      const before = exec(path, ['PreToolUse'])
      expect(before.status).toBe(2)
      expect(before.stderr).toContain('the guard itself failed: Cannot find module')
      expect(before.stderr).toContain('Install Gantry again')
      expect(shell(path).status).toBe(2)
      for (const event of ['UserPromptSubmit', 'Stop', 'SessionStart'])
        expect(exec(path, [event]).status).toBe(1)
    },
  )
})
