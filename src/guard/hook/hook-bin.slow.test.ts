import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type HookLab, openHookLab } from '../../../test/support/hook-lab.ts'
import { ledgerFiles, readLedger } from '../../guard-engine/ledger/read-ledger.ts'

let lab: HookLab
beforeAll(async () => {
  lab = await openHookLab()
})
afterAll(() => lab.remove())
beforeEach(() => {
  rmSync(lab.guardHome, { recursive: true, force: true })
  rmSync(join(lab.root, '.harness'), { recursive: true, force: true })
})

const before = ['--agent', 'claude-code', 'PreToolUse']
const bash = (command: string): string =>
  lab.payload('PreToolUse', { tool_name: 'Bash', tool_input: { command }, tool_use_id: 't1' })
const edit = (id: string, path: string): string =>
  lab.payload('PostToolUse', {
    tool_name: 'Edit',
    tool_input: { file_path: path, old_string: id, new_string: `${id}!` },
    tool_response: { filePath: path },
    tool_use_id: id,
  })
const answer = (args: readonly string[], input: string | Uint8Array | null) => lab.start(args, input).result
const entries = () =>
  ledgerFiles(lab.guardHome, lab.root)
    .slice(1)
    .flatMap((path) => readLedger(lab.guardHome, path).entries)
const view = (name: string) => JSON.parse(readFileSync(join(lab.root, '.harness', name), 'utf8'))

test('a harmless call passes silently, a forbidden one is denied with exit code 2 and one JSON object', async () => {
  expect(await answer(before, bash('ls'))).toEqual({ code: 0, stdout: '', stderr: '' })
  const denied = await answer(before, bash('echo x > .env'))
  expect(denied.code).toBe(2)
  expect(denied.stderr).toContain('.env')
  expect(JSON.parse(denied.stdout).hookSpecificOutput.permissionDecision).toBe('deny')
})

test.each([
  ['nothing', ''],
  ['no JSON', 'hello'],
  ['half an object', '{"session_id":'],
  ['two objects', '{} {}'],
  ['a list', '[]'],
  ['invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
  ['a different event than on the command line', '{"hook_event_name":"Nonsense"}'],
  [
    'a known event that the call does not belong to',
    '{"hook_event_name":"PostToolUse","tool_name":"Bash","session_id":"s","cwd":"/"}',
  ],
])('with %s as input, the hook before a tool blocks with a reason', async (_name, input) => {
  const { code, stdout, stderr } = await answer(before, input)
  expect(code).toBe(2)
  expect(stderr).toMatch(/the guard itself failed/)
  if (stdout !== '') expect(JSON.parse(stdout).hookSpecificOutput.permissionDecision).toBe('deny')
})

test.each([
  ['no agent', []],
  ['an unknown agent', ['--agent', 'nobody', 'PreToolUse']],
  ['an unknown option', ['--agent', 'claude-code', 'PreToolUse', '--verbose']],
  ['two events', ['--agent', 'claude-code', 'PreToolUse', 'Stop']],
  ['an option without its value', ['PreToolUse', '--agent']],
])('started with %s, it blocks', async (_name, args) => {
  expect((await answer(args, bash('ls'))).code).toBe(2)
})

test('input that never ends blocks before the agent stops waiting', async () => {
  const { child, result } = lab.start(before, null)
  child.stdin?.write(bash('ls'))
  const { code, stderr } = await result
  expect(code).toBe(2)
  expect(stderr).toContain('did not close the input')
})

test('a payload of ten megabytes is judged normally', async () => {
  const content = 'x'.repeat(10 * 1024 * 1024)
  const write = (path: string): string =>
    lab.payload('PreToolUse', {
      tool_name: 'Write',
      tool_input: { file_path: path, content },
      tool_use_id: 't1',
    })
  expect((await answer(before, write(join(lab.root, 'big.txt')))).code).toBe(0)
  expect((await answer(before, write(join(lab.root, '.env')))).code).toBe(2)
  expect(JSON.stringify(entries()).length).toBeLessThan(100_000)
})

test('a guard that cannot write its ledger blocks', async () => {
  writeFileSync(lab.guardHome, 'a file where a directory must be')
  const { code, stderr } = await answer(before, bash('ls'))
  expect(code).toBe(2)
  expect(stderr).toContain('cannot')
})

test('fifty hooks at once are counted exactly: in the ledger, in the views and in the trace', async () => {
  await answer(['--agent', 'claude-code', 'SessionStart'], lab.payload('SessionStart', { source: 'startup' }))
  const file = join(lab.root, 'a.ts')
  // The first hook fills the V8 compile cache. Fifty hooks compiling at once would run out of time.
  await answer(['--agent', 'claude-code', 'PostToolUse'], edit('other', file).replace('"s1"', '"s2"'))
  rmSync(join(lab.root, '.harness/trace-log.jsonl'))
  const runs = Array.from({ length: 50 }, (_, index) =>
    answer(['--agent', 'claude-code', 'PostToolUse'], edit(`t${index}`, file)),
  )
  for (const { code, stderr } of await Promise.all(runs))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const all = entries().filter((entry) => entry.kind !== 'event' || entry.event.session === 's1')
  expect(all.filter(({ kind }) => kind === 'event')).toHaveLength(51)
  expect(all.filter(({ kind }) => kind === 'decision')).toHaveLength(52)
  expect(view('edit-tracker.json')).toEqual({ [file]: 50 })
  expect(view('state.json')).toMatchObject({ session_id: 's1', phase: 'executing' })
  const trace = readFileSync(join(lab.root, '.harness/trace-log.jsonl'), 'utf8').trim().split('\n')
  expect(trace).toHaveLength(50)
  expect(new Set(trace.map((line) => JSON.parse(line).signature)).size).toBe(50)
})

test('of many edits at once, exactly one is the fifth', async () => {
  const file = join(lab.root, 'a.ts')
  const runs = Array.from({ length: 8 }, (_, index) =>
    answer(['--agent', 'claude-code', 'PostToolUse'], edit(`t${index}`, file)),
  )
  await Promise.all(runs)
  const warned = entries().filter((entry) => entry.kind === 'decision' && entry.context !== null)
  const counts = warned.map((entry) => /(\d+) (?:edits|times)/.exec(JSON.stringify(entry))?.[1])
  expect(new Set(counts).size).toBe(counts.length)
  expect(warned.length).toBeGreaterThan(0)
})

test('killed hooks leave a ledger that the next hook can read and extend', async () => {
  const file = join(lab.root, 'a.ts')
  const args = ['--agent', 'claude-code', 'PostToolUse']
  let finished = 0
  for (let round = 0; round < 20; round += 1) {
    const { child, result } = lab.start(args, edit(`t${round}`, file))
    const timer = setTimeout(() => child.kill('SIGKILL'), 20 + round * 4)
    if ((await result).code === 0) finished += 1
    clearTimeout(timer)
  }
  expect((await answer(args, edit('last', file))).code).toBe(0)
  const events = entries().filter(({ kind }) => kind === 'event')
  expect(events.length).toBeGreaterThanOrEqual(finished + 1)
  expect(Object.values(view('edit-tracker.json'))).toEqual([events.length])
})

test('the same bundle works beside a package.json of either kind of module', async () => {
  for (const type of ['module', 'commonjs']) {
    writeFileSync(join(lab.top, 'hook', 'package.json'), JSON.stringify({ type }))
    expect((await answer(before, bash('ls'))).code, type).toBe(0)
  }
  rmSync(join(lab.top, 'hook', 'package.json'))
})

test('a compile cache changes no answer, even if it is damaged', async () => {
  const first = await answer(before, bash('echo x > .env'))
  const second = await answer(before, bash('echo x > .env'))
  expect(withoutId(second.stdout)).toBe(withoutId(first.stdout))
  const kept = globSync(join(lab.guardHome, 'cache/*/*/*.bin'))
  expect(kept.length).toBeGreaterThan(3)
  for (const path of kept) writeFileSync(path, 'nonsense')
  const third = await answer(before, bash('echo x > .env'))
  expect({ code: third.code, stdout: withoutId(third.stdout) }).toEqual({
    code: 2,
    stdout: withoutId(first.stdout),
  })
})

function withoutId(text: string): string {
  return text.replaceAll(/d_[a-z0-9]{16}/g, 'd_')
}

test('when git hangs, only the exact tree that was verified passes', async () => {
  const send = (event: string, more: object) =>
    answer(['--agent', 'claude-code', event], lab.payload(event, more))
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: lab.root, stdio: 'ignore' })
  const file = join(lab.root, 'a.ts')
  const edited = (content: string) => {
    writeFileSync(file, content)
    return answer(['--agent', 'claude-code', 'PostToolUse'], edit(content, file))
  }
  const stop = () => send('Stop', { stop_hook_active: false, last_assistant_message: 'Done.' })
  git('init', '-q')
  writeFileSync(join(lab.root, 'AGENTS.md'), '## Verification\n\n- `sh test.sh`\n')
  writeFileSync(join(lab.root, 'test.sh'), 'echo 1 passed\n')
  writeFileSync(file, 'x')
  git('add', '.')
  await send('SessionStart', { source: 'startup' })
  await edited('y')
  const bash = { tool_name: 'Bash', tool_input: { command: 'sh test.sh' }, tool_use_id: 't2' }
  await send('PreToolUse', bash)
  await send('PostToolUse', {
    ...bash,
    tool_response: { stdout: '1 passed', stderr: '', interrupted: false },
  })
  expect((await stop()).code).toBe(0)
  // Git waits for a writer that never comes.
  execFileSync('mkfifo', [join(lab.root, '.gitignore')])
  await edited('y')
  expect((await stop()).code).toBe(0)
  await edited('z')
  const refused = await stop()
  expect(refused.stderr + refused.stdout).toContain('not done yet')
})
