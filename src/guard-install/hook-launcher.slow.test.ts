import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hookLauncher, launchedPrograms, writeLauncher } from './hook-launcher.ts'

let base: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'gantry-launcher-'))
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

/** Says how it was started, and what it was told. */
const program = (name: string): string => {
  const path = join(base, name)
  writeFileSync(
    path,
    `console.log(JSON.stringify([process.execPath, ...process.argv.slice(1)]))
const told = process.getBuiltinModule('node:fs').readFileSync(0, 'utf8')
process.stderr.write(told)
process.exit(told === 'deny' ? 2 : 0)\n`,
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

/** As Claude Code does it, and as Copilot does it: through a shell and without arguments. */
const exec = (path: string, args: readonly string[], input = '') =>
  spawnSync(path, args, { input, encoding: 'utf8', cwd: '/' })
const shell = (path: string, input = '') =>
  spawnSync('sh', ['-c', path], { input, encoding: 'utf8', cwd: '/' })

describe('the launcher', () => {
  test('starts the program as if it had been called with its arguments, answer and exit code included', () => {
    const hookBin = program('hook-bin.js')
    const path = launched(process.execPath, hookBin)
    const { stdout, stderr, status } = exec(path, ['PreToolUse'], 'deny')
    expect(JSON.parse(stdout)).toEqual([process.execPath, hookBin, '--agent', 'claude-code', 'PreToolUse'])
    expect({ stderr, status }).toEqual({ stderr: 'deny', status: 2 })
    expect(JSON.parse(shell(path).stdout)).toEqual([process.execPath, hookBin, '--agent', 'claude-code'])
  })

  test('blocks when the program fails, at once or later, also with something that is no error', () => {
    const hookBin = join(base, 'hook-bin.js')
    const path = launched(process.execPath, hookBin)
    for (const code of [
      'throw new Error("x")',
      'Promise.reject(new Error("x"))',
      'setTimeout(() => { throw "x" })',
    ]) {
      writeFileSync(hookBin, code)
      const { stderr, status } = exec(path, ['PreToolUse'])
      expect({ status, said: stderr.split('\n')[0] }).toEqual({
        status: 2,
        said: 'the guard itself failed: x',
      })
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

  test('is no module of a package above it, and takes a program that is one', () => {
    writeFileSync(join(base, 'package.json'), '{"type": "module"}')
    const hookBin = program('hook-bin.js')
    expect(exec(launched(process.execPath, hookBin), ['Stop']).stdout).toContain(hookBin)
    const source = program('hook-bin.ts')
    writeFileSync(source, `console.log('typed' as string)\nawait 1\n`)
    expect(exec(launched(process.execPath, source), ['Stop']).stdout).toBe('typed\n')
  })

  test.each(['hook-bin.js', 'hook-bin.ts'])(
    'denies a tool call and says why when %s is gone, and holds nobody else for ever',
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
