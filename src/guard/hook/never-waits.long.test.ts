import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type HookLab, type HookResult, openHookLab } from '../../../test/support/hook-lab.ts'

let lab: HookLab
beforeAll(async () => {
  lab = await openHookLab()
}, 600_000)
afterAll(() => lab.remove())
beforeEach(() => {
  for (const path of [lab.guardHome, lab.root]) rmSync(path, { recursive: true, force: true })
  mkdirSync(lab.root)
  writeFileSync(join(lab.root, 'a.ts'), 'x')
})

/** Longer than any of these events may take, but shorter than the test. */
const patienceMs = 30_000

async function send(event: string, more: object): Promise<HookResult> {
  const { child, result } = lab.start(['--agent', 'claude-code', event], lab.payload(event, more))
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  const ended = await result
  clearTimeout(timer)
  if (ended.code === null) throw new Error(`${event} never ended`)
  return ended
}

const start = () => send('SessionStart', { source: 'startup' })
const edit = (event: 'PreToolUse' | 'PostToolUse') =>
  send(event, {
    tool_name: 'Edit',
    tool_input: { file_path: join(lab.root, 'a.ts'), old_string: 'x', new_string: 'y' },
    ...(event === 'PostToolUse' && { tool_response: { filePath: join(lab.root, 'a.ts') } }),
    tool_use_id: 't1',
  })
const stop = () => send('Stop', { stop_hook_active: false, last_assistant_message: 'Done.' })

function fifo(path: string): void {
  mkdirSync(dirname(join(lab.root, path)), { recursive: true })
  rmSync(join(lab.root, path), { force: true })
  execFileSync('mkfifo', [join(lab.root, path)])
}

test.each([
  '.harness/state.json',
  '.harness/edit-tracker.json',
  '.harness/trace-log.jsonl',
  '.harness/.gitignore',
  '.harness',
  'AGENTS.md',
  'CLAUDE.md',
  'IMPLEMENTATION_PLAN.md',
  'package.json',
  'a.test.ts',
])('a pipe in the place of %s holds no hook, and stays', async (path) => {
  fifo(path)
  expect((await start()).code).toBe(0)
  expect((await edit('PreToolUse')).code).toBe(0)
  writeFileSync(join(lab.root, 'a.ts'), 'y')
  expect((await edit('PostToolUse')).code).toBe(0)
  // Nothing is verified, so the gate refuses despite the pipe.
  expect((await stop()).stderr + (await stop()).stdout).toContain('not done yet')
  expect(lstatSync(join(lab.root, path)).isFIFO()).toBe(true)
})

test('a pipe instead of the settings file blocks with a message', async () => {
  fifo('harness.json')
  const { code, stderr } = await edit('PreToolUse')
  expect(code).toBe(2)
  expect(stderr).toContain('is a FIFO, not a file')
})

test.each(['state.json', 'edit-tracker.json', 'trace-log.jsonl'])(
  'a directory instead of %s does not block hooks and is not removed',
  async (name) => {
    const path = join(lab.root, '.harness', name)
    mkdirSync(path, { recursive: true })
    const { code, stdout } = await start()
    expect(code).toBe(0)
    expect(JSON.parse(stdout).systemMessage).toContain(`are not overwritten: ${name}`)
    expect((await edit('PostToolUse')).code).toBe(0)
    expect(lstatSync(path).isDirectory()).toBe(true)
  },
)

test.each(['.gitignore', '.gitattributes', '.git/info/exclude', '.git/config', '.harness/.gitignore'])(
  'when git hangs at %s, the tree is read without git and the gate still refuses',
  async (path) => {
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: lab.root, stdio: 'ignore' })
    git('init', '-q')
    git('add', 'a.ts')
    fifo(path)
    expect((await start()).code).toBe(0)
    writeFileSync(join(lab.root, 'a.ts'), 'y')
    expect((await edit('PostToolUse')).code).toBe(0)
    const refused = await stop()
    expect(refused.stderr + refused.stdout).toContain('not done yet')
    // No process is left waiting.
    const waiting = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    expect(waiting.split('\n').filter((line) => line.startsWith('git ') && line.includes(lab.root))).toEqual(
      [],
    )
  },
  90_000,
)
