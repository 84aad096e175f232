import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type HookLab, openHookLab } from '../../../test/support/hook-lab.ts'
import { ledgerFiles, readLedger } from '../../guard-engine/ledger/read-ledger.ts'

let lab: HookLab
beforeAll(async () => {
  lab = await openHookLab()
}, 60_000)
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

test('a harmless call passes without a word, a forbidden one is denied with exit code 2 and one JSON object', async () => {
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
  ['bytes that are no text', Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
  ['another event than it was started for', '{"hook_event_name":"Nonsense"}'],
])('told %s, the hook before a tool blocks and says why', async (_name, input) => {
  const { code, stdout, stderr } = await answer(before, input)
  expect(code).toBe(2)
  expect(stderr).toMatch(/the guard itself failed/)
  if (stdout !== '') expect(JSON.parse(stdout).hookSpecificOutput.permissionDecision).toBe('deny')
})

test.each([
  ['no agent', []],
  ['an agent nobody knows', ['--agent', 'nobody', 'PreToolUse']],
  ['an option nobody knows', ['--agent', 'claude-code', 'PreToolUse', '--verbose']],
  ['two events', ['--agent', 'claude-code', 'PreToolUse', 'Stop']],
  ['an option without its value', ['PreToolUse', '--agent']],
])('started with %s, it blocks', async (_name, args) => {
  expect((await answer(args, bash('ls'))).code).toBe(2)
})

test('input that never ends is answered before the agent gives up, by blocking', async () => {
  const { child, result } = lab.start(before, null)
  child.stdin?.write(bash('ls'))
  const { code, stderr } = await result
  expect(code).toBe(2)
  expect(stderr).toContain('did not end')
})

test('a payload of ten megabytes is judged like any other', async () => {
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
  // What V8 makes of the program is kept by the first one: fifty that compile at once would run out of their time.
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
}, 120_000)

test('each of many hooks at once sees its own place: exactly one of them is the fifth edit', async () => {
  const file = join(lab.root, 'a.ts')
  const runs = Array.from({ length: 8 }, (_, index) =>
    answer(['--agent', 'claude-code', 'PostToolUse'], edit(`t${index}`, file)),
  )
  await Promise.all(runs)
  const warned = entries().filter((entry) => entry.kind === 'decision' && entry.context !== null)
  const counts = warned.map((entry) => /(\d+) (?:edits|times)/.exec(JSON.stringify(entry))?.[1])
  expect(new Set(counts).size).toBe(counts.length)
  expect(warned.length).toBeGreaterThan(0)
}, 60_000)

test('hooks that are killed at any moment leave a ledger that the next one reads and adds to', async () => {
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
}, 60_000)

test('the same bundle works beside a package.json of either kind of module', async () => {
  for (const type of ['module', 'commonjs']) {
    writeFileSync(join(lab.top, 'hook', 'package.json'), JSON.stringify({ type }))
    expect((await answer(before, bash('ls'))).code, type).toBe(0)
  }
  rmSync(join(lab.top, 'hook', 'package.json'))
})

test('what was kept of an earlier start changes no answer, also when it is damaged', async () => {
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
