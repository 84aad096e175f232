import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type HookLab, type HookResult, openHookLab } from '../../../test/support/hook-lab.ts'

let lab: HookLab
beforeAll(async () => {
  lab = await openHookLab()
}, 60_000)
afterAll(() => lab.remove())
beforeEach(() => {
  for (const path of [lab.guardHome, lab.root]) rmSync(path, { recursive: true, force: true })
  mkdirSync(lab.root)
  writeFileSync(join(lab.root, 'a.ts'), 'x')
})

/** Longer than any of these events may take, and shorter than the test. */
const patienceMs = 30_000

async function told(event: string, more: object): Promise<HookResult> {
  const { child, result } = lab.start(['--agent', 'claude-code', event], lab.payload(event, more))
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  const ended = await result
  clearTimeout(timer)
  if (ended.code === null) throw new Error(`${event} waited for ever`)
  return ended
}

const start = () => told('SessionStart', { source: 'startup' })
const edit = (event: 'PreToolUse' | 'PostToolUse') =>
  told(event, {
    tool_name: 'Edit',
    tool_input: { file_path: join(lab.root, 'a.ts'), old_string: 'x', new_string: 'y' },
    ...(event === 'PostToolUse' && { tool_response: { filePath: join(lab.root, 'a.ts') } }),
    tool_use_id: 't1',
  })
const stop = () => told('Stop', { stop_hook_active: false, last_assistant_message: 'Done.' })

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
  // Nothing is verified: whatever the pipe is, it talks nobody out of that.
  expect((await stop()).stderr + (await stop()).stdout).toContain('not done yet')
  expect(lstatSync(join(lab.root, path)).isFIFO()).toBe(true)
})

test('a pipe in the place of the settings blocks with a word about it', async () => {
  fifo('harness.json')
  const { code, stderr } = await edit('PreToolUse')
  expect(code).toBe(2)
  expect(stderr).toContain('is a FIFO, not a file')
})

test.each(['state.json', 'edit-tracker.json', 'trace-log.jsonl'])(
  'a directory in the place of %s holds no hook, and stays',
  async (name) => {
    const path = join(lab.root, '.harness', name)
    mkdirSync(path, { recursive: true })
    const { code, stdout } = await start()
    expect(code).toBe(0)
    expect(JSON.parse(stdout).systemMessage).toContain(`stay as they are: ${name}`)
    expect((await edit('PostToolUse')).code).toBe(0)
    expect(lstatSync(path).isDirectory()).toBe(true)
  },
)

test.each(['.gitignore', '.gitattributes', '.git/info/exclude', '.git/config', '.harness/.gitignore'])(
  'git that waits for ever at %s is left waiting: the tree is looked at without it, and the gate still refuses',
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
    // Nobody is left behind to wait.
    const waiting = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    expect(waiting.split('\n').filter((line) => line.startsWith('git ') && line.includes(lab.root))).toEqual(
      [],
    )
  },
  90_000,
)

test('with git silent the same files are the same tree, a change of one is another, and only the first is let through', async () => {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: lab.root, stdio: 'ignore' })
  git('init', '-q')
  writeFileSync(join(lab.root, 'AGENTS.md'), '## Verification\n\n- `sh test.sh`\n')
  writeFileSync(join(lab.root, 'test.sh'), 'echo 1 passed\n')
  git('add', '.')
  await start()
  writeFileSync(join(lab.root, 'a.ts'), 'y')
  await edit('PostToolUse')
  const bash = { tool_name: 'Bash', tool_input: { command: 'sh test.sh' }, tool_use_id: 't2' }
  await told('PreToolUse', bash)
  const output = { stdout: '1 passed', stderr: '', interrupted: false }
  await told('PostToolUse', { ...bash, tool_response: output })
  expect((await stop()).code).toBe(0)
  fifo('.gitignore')
  await edit('PostToolUse')
  expect((await stop()).code).toBe(0)
  writeFileSync(join(lab.root, 'a.ts'), 'z')
  await edit('PostToolUse')
  const refused = await stop()
  expect(refused.stderr + refused.stdout).toContain('not done yet')
}, 90_000)
