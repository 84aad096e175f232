import { spawn } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'

const here = join(import.meta.dirname, '../..')
const top = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-checkout-')))
const checkout = join(top, 'checkout')
const project = join(top, 'project')
const list = join(checkout, 'node_modules/.cache/gantry/hook-bundle.json')

/** A checkout of its own, with the packages of this one. */
beforeAll(() => {
  mkdirSync(project, { recursive: true })
  for (const name of ['src', 'scripts', 'bin', 'package.json'])
    cpSync(join(here, name), join(checkout, name), { recursive: true })
  mkdirSync(join(checkout, 'node_modules'))
  for (const name of readdirSync(join(here, 'node_modules')))
    if (name !== '.cache') symlinkSync(join(here, 'node_modules', name), join(checkout, 'node_modules', name))
})

afterAll(() => rmSync(top, { recursive: true, force: true }))

test('hooks of a checkout answer while their bundle is missing, made and made again', async () => {
  const together = await Promise.all([1, 2, 3, 4].map(() => runHook()))
  expect(together).toEqual(Array.from({ length: 4 }, () => 0))
  const first = await nextBundle(null)
  // The bundle does not need this file, and only a hook that runs from source does.
  const source = join(checkout, 'src/hook-bin.ts')
  renameSync(source, `${source}.away`)
  expect(await runHook()).toBe(0)
  renameSync(`${source}.away`, source)

  appendFileSync(join(checkout, 'src/core/version.ts'), '// changed\n')
  const again = await Promise.all([1, 2].map(() => runHook()))
  expect(again).toEqual([0, 0])
  const second = await nextBundle(first)
  expect(second).not.toBe(first)
  expect(readdirSync(project)).toEqual([])
})

test('without the bundler hooks run from source', async () => {
  rmSync(join(checkout, 'node_modules/.cache'), { recursive: true })
  rmSync(join(checkout, 'node_modules/rolldown'))
  expect(await runHook()).toBe(0)
  expect(existsSync(join(checkout, 'node_modules/.cache'))).toBe(false)
})

async function runHook(): Promise<number | null> {
  const payload = {
    session_id: 's',
    cwd: project,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
  }
  const hook = spawn(
    process.execPath,
    [join(checkout, 'bin/hook-bin.js'), '--agent', 'claude-code', 'PreToolUse'],
    {
      env: {
        PATH: '/usr/bin:/bin',
        HOME: top,
        GANTRY_GUARD_HOME: join(top, 'guard'),
        GANTRY_GUARD_RESIDENT: 'off',
      },
      stdio: ['pipe', 'ignore', 'inherit'],
    },
  )
  hook.stdin.end(JSON.stringify(payload))
  return await new Promise((resolve) => hook.on('close', resolve))
}

async function nextBundle(known: string | null): Promise<string> {
  for (;;) {
    const bundle = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')).bundle : known
    if (bundle !== known) return bundle
    await wait(100)
  }
}
