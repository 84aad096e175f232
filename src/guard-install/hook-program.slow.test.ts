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
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'

const here = join(import.meta.dirname, '../..')
const top = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-checkout-')))
const checkout = join(top, 'checkout')
const project = join(top, 'project')
const list = join(checkout, 'node_modules/.cache/gantry/hook-bundle.json')
const lock = join(dirname(list), 'hook-bundle.lock')

/** A separate checkout with the packages of this one. */
beforeAll(() => {
  mkdirSync(project, { recursive: true })
  for (const name of ['src', 'scripts', 'bin', 'package.json'])
    cpSync(join(here, name), join(checkout, name), { recursive: true })
  mkdirSync(join(checkout, 'node_modules'))
  for (const name of readdirSync(join(here, 'node_modules')))
    if (name !== '.cache') symlinkSync(join(here, 'node_modules', name), join(checkout, 'node_modules', name))
})

afterAll(() => rmSync(top, { recursive: true, force: true }))

test('hooks of a checkout answer while their bundle is missing, built and rebuilt', async () => {
  const together = await Promise.all([1, 2, 3].map(() => runHook()))
  expect(together).toEqual([0, 0, 0])
  const first = await nextBundle(null)
  // Only a hook that runs from source needs this file.
  const source = join(checkout, 'src/hook-bin.ts')
  renameSync(source, `${source}.away`)
  expect(await runHook()).toBe(0)
  renameSync(`${source}.away`, source)

  appendFileSync(join(checkout, 'src/core/version.ts'), '// changed\n')
  expect(await runHook()).toBe(0)
  const second = await nextBundle(first)
  expect(second).not.toBe(first)
  expect(readdirSync(project)).toEqual([])
})

/** Whole, as the test above made it. The lock is that of a build which runs, so that a hook starts no other. */
async function withBundle(): Promise<string> {
  const bundle = join(dirname(list), await nextBundle(null))
  await until(() => !existsSync(lock))
  writeFileSync(lock, '')
  return bundle
}

test.each([
  ['an empty bundle', (bundle: string) => truncateSync(bundle, 0)],
  ['half a bundle', (bundle: string) => truncateSync(bundle, 2_000)],
  ['a bundle that throws', (bundle: string) => breakBundle(bundle)],
  ['an empty list of sources', () => writeFileSync(list, '{}')],
  ['a list that is not an object', () => writeFileSync(list, '[]')],
])('with %s the hook still decides', async (_, damage) => {
  const bundle = await withBundle()
  const [whole, named] = [readFileSync(bundle), readFileSync(list)]
  damage(bundle)
  // 2 is the exit code of a denial.
  expect(await runHook('rm .env')).toBe(2)
  writeFileSync(bundle, whole)
  writeFileSync(list, named)
  rmSync(lock)
})

test('without the bundler hooks run from source', async () => {
  rmSync(join(checkout, 'node_modules/.cache'), { recursive: true })
  rmSync(join(checkout, 'node_modules/rolldown'))
  expect(await runHook()).toBe(0)
  expect(existsSync(join(checkout, 'node_modules/.cache'))).toBe(false)
})

/** Of the same size, so that only running it shows the damage. */
function breakBundle(bundle: string): void {
  const { size } = statSync(bundle)
  writeFileSync(bundle, 'throw new Error("damaged")\n'.padEnd(size, ' '))
}

async function runHook(command = 'ls'): Promise<number | null> {
  const payload = {
    session_id: 's',
    cwd: project,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
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
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  )
  hook.stdin.end(JSON.stringify(payload))
  return await new Promise((resolve) => hook.on('close', resolve))
}

async function nextBundle(known: string | null): Promise<string> {
  let found = known
  await until(() => {
    found = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')).bundle ?? known) : known
    return found !== known
  })
  return found ?? ''
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(20)
}
