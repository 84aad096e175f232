import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gateTrial } from './gate-trial.conformance.ts'
import { runGate } from './index.ts'

const outputGates = [
  { type: 'command_output_contains', substring: 'hello' },
  { type: 'command_output_matches', pattern: 'h.llo' },
  { type: 'command_json_path', path: '$', assertion: 'equals hello' },
]
const commandGates = [
  { type: 'command_succeeds' },
  ...outputGates,
  { type: 'script', description: 'the script agrees' },
]

describe.each(commandGates)('$type', (gate) => {
  const hello = gate.type === 'command_json_path' ? `echo '"hello"'` : 'echo hello'

  test('passes and records exit code, output and duration', async () => {
    using trial = gateTrial()
    const result = await trial.check({ ...gate, command: `${hello}; echo note >&2` })
    expect(result).toMatchObject({
      type: gate.type,
      passed: true,
      detail: {
        exit_code: 0,
        timed_out: false,
        stdout_tail: expect.stringContaining('hello'),
        stderr_tail: 'note\n',
        duration_ms: expect.any(Number),
      },
    })
  })

  test('runs in the workspace, in the given environment and in no other', async () => {
    using trial = gateTrial()
    const spec = { ...gate, command: `pwd > where; env > environment; ${hello}` }
    await trial.check(spec, { env: { PATH: process.env.PATH ?? '', MARK: 'target env' } })
    expect(readFileSync(join(trial.workspace, 'where'), 'utf8').trim()).toBe(trial.workspace)
    const environment = readFileSync(join(trial.workspace, 'environment'), 'utf8')
    expect(environment).toContain('MARK=target env')
    expect(environment).not.toContain('HOME=')
  })

  test('fails at the time limit and names it, regardless of the output', async () => {
    using trial = gateTrial()
    const result = await trial.check({ ...gate, command: `${hello}; sleep 30`, timeout_secs: 0.3 })
    expect(result).toMatchObject({
      passed: false,
      message: expect.stringContaining('within 0.3 s'),
      detail: { timed_out: true, exit_code: null },
    })
  })

  test('fails when the command is killed by a signal and names the signal', async () => {
    using trial = gateTrial()
    const result = await trial.check({ ...gate, command: `${hello}; kill -9 $$` })
    expect(result).toMatchObject({ passed: false, message: expect.stringContaining('SIGKILL') })
  })

  test('fails when the command cannot be started, and says why', async () => {
    using trial = gateTrial()
    rmSync(trial.workspace, { recursive: true })
    const result = await trial.check({ ...gate, command: hello })
    expect(result).toMatchObject({ passed: false, message: expect.stringContaining('could not be started') })
  })

  test('fails when the program does not exist', async () => {
    using trial = gateTrial()
    const result = await trial.check({ ...gate, command: 'no-such-program-anywhere' })
    expect(result).toMatchObject({
      passed: false,
      message: expect.stringContaining('127 (command not found)'),
      detail: { exit_code: 127 },
    })
  })

  test.each(['', '  \n'])('an empty command %j is refused at load and fails in a check', async (command) => {
    using trial = gateTrial()
    await expect(async () => trial.check({ ...gate, command })).rejects.toThrow('the command is empty')
    const context = { ...bareContext(trial.workspace) }
    const spec = { timeout_secs: 30, command, ...gate } as unknown as Parameters<typeof runGate>[0]
    expect((await runGate(spec, context)).result).toMatchObject({
      passed: false,
      message: expect.stringContaining('the command is empty'),
    })
  })

  test('keeps the detail small for a large output', async () => {
    using trial = gateTrial()
    const flood = 'yes gantry | head -c 3000000; yes error | head -c 3000000 >&2'
    const { detail } = await trial.check({ ...gate, command: flood })
    expect(JSON.stringify(detail).length).toBeLessThan(10_000)
    expect(detail.stdout_tail).toContain('gantry\n')
  })

  test('throws when interrupted', async () => {
    using trial = gateTrial()
    const controller = new AbortController()
    const running = trial.check({ ...gate, command: 'sleep 30' }, { signal: controller.signal })
    setTimeout(() => controller.abort(), 50)
    await expect(running).rejects.toMatchObject({ code: 'INTERRUPTED' })
    await expect(
      trial.check({ ...gate, command: hello }, { signal: controller.signal }),
    ).rejects.toMatchObject({
      code: 'INTERRUPTED',
    })
  })

  test('shows its description', async () => {
    using trial = gateTrial()
    const { message } = await trial.check({ ...gate, command: hello, description: 'greets' })
    expect(message).toMatch(/^greets/)
  })
})

describe.each(outputGates)('$type judges stdout', (gate) => {
  const hello = gate.type === 'command_json_path' ? `echo '"hello"'` : 'echo hello'

  test('and not the exit code, which it records', async () => {
    using trial = gateTrial()
    const result = await trial.check({ ...gate, command: `${hello}; exit 3` })
    expect(result).toMatchObject({ passed: true, detail: { exit_code: 3 } })
  })

  test('and not stderr', async () => {
    using trial = gateTrial()
    const result = await trial.check({ ...gate, command: `(${hello}) >&2` })
    expect(result).toMatchObject({ passed: false, detail: { stderr_tail: expect.stringContaining('hello') } })
  })

  test('and the exit code too with expect_exit', async () => {
    using trial = gateTrial()
    const check = (exit: number) =>
      trial.check({ ...gate, command: `${hello}; exit ${exit}`, expect_exit: 2 })
    expect(await check(2)).toMatchObject({ passed: true })
    expect(await check(0)).toMatchObject({
      passed: false,
      message: expect.stringContaining('exited with 0, expected 2'),
      detail: { stdout_tail: expect.stringContaining('hello') },
    })
  })

  test('and accepts even 127 when the user expects it', async () => {
    using trial = gateTrial()
    const result = await trial.check({ ...gate, command: `${hello}; exit 127`, expect_exit: 127 })
    expect(result.passed).toBe(true)
  })
})

describe('command_succeeds', () => {
  test('fails on any other exit code and reports it', async () => {
    using trial = gateTrial()
    expect(await trial.check({ type: 'command_succeeds', command: 'exit 7' })).toMatchObject({
      passed: false,
      message: '"exit 7" exited with 7',
      detail: { exit_code: 7 },
    })
  })
})

describe('command_output_contains', () => {
  test('shows the expected text and the end of the output', async () => {
    using trial = gateTrial()
    const result = await trial.check({ type: 'command_output_contains', command: 'seq 5', substring: 'six' })
    expect(result).toMatchObject({
      passed: false,
      message: 'stdout of "seq 5" does not contain "six"',
      detail: { substring: 'six', stdout_tail: '1\n2\n3\n4\n5\n' },
    })
  })

  test('takes the substring literally, including special characters', async () => {
    using trial = gateTrial()
    const spec = { type: 'command_output_contains', command: `printf '%s' 'a.*[b]'`, substring: '.*[' }
    expect((await trial.check(spec)).passed).toBe(true)
  })

  test('finds text far from the end of a long output, and reports when the output was cut', async () => {
    using trial = gateTrial()
    const long = (megabytes: number) => ({
      type: 'command_output_contains',
      command: `head -c ${megabytes}m /dev/zero | tr '\\0' x; echo needle; head -c ${megabytes}m /dev/zero | tr '\\0' x`,
      substring: 'needle',
    })
    expect((await trial.check(long(1))).passed).toBe(true)
    expect(await trial.check(long(4))).toMatchObject({
      passed: false,
      message: expect.stringContaining('too long to be kept whole'),
    })
  })
})

describe('command_output_matches', () => {
  test('reports what matched', async () => {
    using trial = gateTrial()
    const spec = { type: 'command_output_matches', command: 'echo v1.24.3', pattern: '\\d+\\.\\d+' }
    expect(await trial.check(spec)).toMatchObject({ passed: true, detail: { matched: '1.24' } })
  })

  test('finds a line with (?m)', async () => {
    using trial = gateTrial()
    const spec = { type: 'command_output_matches', command: 'seq 3' }
    expect((await trial.check({ ...spec, pattern: '^2$' })).passed).toBe(false)
    expect((await trial.check({ ...spec, pattern: '(?m)^2$' })).passed).toBe(true)
  })

  test('refuses an invalid pattern at load and fails with the message of the parser in a check', async () => {
    using trial = gateTrial()
    const spec = { type: 'command_output_matches', command: 'true', pattern: '(', timeout_secs: 30 } as const
    await expect(async () => trial.check(spec)).rejects.toThrow('missing closing )')
    expect((await runGate(spec, bareContext(trial.workspace))).result).toMatchObject({
      passed: false,
      message: expect.stringContaining('missing closing )'),
    })
  })

  test('a hostile output cannot hang the pattern', async () => {
    using trial = gateTrial()
    const command = `head -c 200000 /dev/zero | tr '\\0' a; echo b`
    const result = await trial.check({ type: 'command_output_matches', command, pattern: '^(a+)+$' })
    expect(result.passed).toBe(false)
  })
})

describe('command_json_path', () => {
  const gate = { type: 'command_json_path', command: 'cat tasks.json' }
  const tasks = {
    tasks: [
      { id: 1, title: 'milk', done: false, note: null },
      { id: 2, title: 'bread' },
    ],
    count: 2,
  }

  test.each([
    ['$.tasks', 'len >= 2', true],
    ['$.tasks', 'len == 3', false],
    ['$.tasks', 'len > 1', true],
    ['$.tasks', 'len < 2', false],
    ['$.tasks', 'len <= 2', true],
    ['$.tasks[0].title', 'equals milk', true],
    ['$.tasks[0].title', 'contains il', true],
    ['$.tasks[1].id', 'equals 2', true],
    ['$.count', 'equals "2"', false],
    ['$.tasks[0].note', 'exists', false],
    ['$.tasks[0].done', 'exists', true],
    ['$.tasks[9]', 'exists', false],
    ['$.missing', 'len == 0', false],
    ['$.tasks[*].title', 'contains bread', true],
    ['$', 'exists', true],
  ])('%s %s is %s', async (path, assertion, expected) => {
    using trial = gateTrial()
    writeFileSync(join(trial.workspace, 'tasks.json'), JSON.stringify(tasks))
    expect((await trial.check({ ...gate, path, assertion })).passed).toBe(expected)
  })

  test('shows the shortened value and why the assertion fails', async () => {
    using trial = gateTrial()
    writeFileSync(
      join(trial.workspace, 'tasks.json'),
      JSON.stringify({ list: Array.from({ length: 5000 }, () => 'x') }),
    )
    const result = await trial.check({ ...gate, path: '$.list', assertion: 'len == 1' })
    expect(result.message).toContain('the length is 5000')
    expect(String(result.detail.found)).toMatch(/^\["x","x"/)
    expect(String(result.detail.found).length).toBeLessThan(1_000)
  })

  test('reports a path that selects nothing', async () => {
    using trial = gateTrial()
    writeFileSync(join(trial.workspace, 'tasks.json'), '{}')
    expect(await trial.check({ ...gate, path: '$.a.b', assertion: 'exists' })).toMatchObject({
      passed: false,
      message: expect.stringContaining('selects nothing'),
      detail: { found: 'nothing' },
    })
  })

  test.each([
    ['not json', 'is not JSON'],
    ['', 'it is empty'],
    ['{"a": 1} trailing', 'is not JSON'],
  ])('fails for output %j', async (text, message) => {
    using trial = gateTrial()
    writeFileSync(join(trial.workspace, 'tasks.json'), text)
    expect(await trial.check({ ...gate, path: '$', assertion: 'exists' })).toMatchObject({
      passed: false,
      message: expect.stringContaining(message),
    })
  })

  test.each([
    [{ path: 'tasks', assertion: 'exists' }, 'starts with'],
    [{ path: '$.', assertion: 'exists' }, 'key is missing'],
    [{ path: '$.count', assertion: '> 5' }, 'the forms are exists, equals <value>'],
    [{ path: '$.count', assertion: '$.count > 5' }, 'not an assertion'],
  ])('refuses %j at load', async (keys, message) => {
    using trial = gateTrial()
    await expect(async () => trial.check({ ...gate, ...keys })).rejects.toThrow(message)
  })
})

describe('script', () => {
  const gate = { type: 'script', description: 'all tasks are there' }

  test.each([
    ['exit 0', true, 'all tasks are there'],
    ['exit 4', false, 'all tasks are there: exit code 4'],
    [`echo '{"passed": true}'; exit 1`, true, 'all tasks are there'],
    [`echo '{"passed": false}'`, false, 'all tasks are there'],
    [`echo '{"passed": false, "message": "2 missing"}'`, false, '2 missing'],
    [`echo '{"passed": false, "message": 7}'`, false, 'all tasks are there'],
    [`echo '{"passed": "yes"}'; exit 1`, false, 'all tasks are there: exit code 1'],
    [`echo '{"passed": "no"}'`, true, 'all tasks are there'],
    [`echo '[{"passed": false}]'`, true, 'all tasks are there'],
    [`echo 'looking...'; echo '{"passed": false, "message": "last line"}'; echo`, false, 'last line'],
    [`echo '{"passed": false}'; echo done`, true, 'all tasks are there'],
    [`printf '{\\n "passed": false,\\n "message": "pretty"\\n}\\n'`, false, 'pretty'],
    [`echo '{"passed": false}' >&2`, true, 'all tasks are there'],
  ])('%s', async (command, passed, message) => {
    using trial = gateTrial()
    expect(await trial.check({ ...gate, command })).toMatchObject({ passed, message })
  })

  test('keeps the detail of the script beside its exit code', async () => {
    using trial = gateTrial()
    const command = `echo '{"passed": true, "detail": {"count": 3, "exit_code": "mine", "__proto__": 1}}'; exit 2`
    const { detail } = await trial.check({ ...gate, command })
    expect(detail).toMatchObject({ count: 3, exit_code: 2, script_exit_code: 'mine' })
    expect(Object.keys(detail)).toContain('__proto__')
  })

  test('limits the size of a detail', async () => {
    using trial = gateTrial()
    const command = `printf '{"passed": true, "detail": {"x": "'; head -c 200000 /dev/zero | tr '\\0' a; echo '"}}'`
    const result = await trial.check({ ...gate, command })
    expect(result.passed).toBe(true)
    expect(JSON.stringify(result.detail).length).toBeLessThan(10_000)
    expect(result.detail.script_detail_omitted).toContain('characters')
  })

  test('a script stopped at its time limit fails even if it printed that it passed', async () => {
    using trial = gateTrial()
    const command = `echo '{"passed": true}'; sleep 30`
    const result = await trial.check({ ...gate, command, timeout_secs: 0.3 })
    expect(result).toMatchObject({
      passed: false,
      message: expect.stringMatching(/^all tasks are there: .* 0\.3 s/),
    })
  })

  test('an executable file of the workspace can be the script', async () => {
    using trial = gateTrial()
    mkdirSync(join(trial.workspace, 'scripts'))
    writeFileSync(join(trial.workspace, 'scripts/check.sh'), '#!/bin/sh\ntest -f done\n', { mode: 0o755 })
    expect((await trial.check({ ...gate, command: './scripts/check.sh' })).passed).toBe(false)
    writeFileSync(join(trial.workspace, 'done'), '')
    expect((await trial.check({ ...gate, command: './scripts/check.sh' })).passed).toBe(true)
  })

  test('needs a description', async () => {
    using trial = gateTrial()
    await expect(async () => trial.check({ type: 'script', command: 'true' })).rejects.toThrow('description')
  })
})

function bareContext(workspace: string): Parameters<typeof runGate>[1] {
  return {
    workspace,
    env: { PATH: process.env.PATH ?? '' },
    signal: new AbortController().signal,
    invocations: [],
    invocationSource: 'none',
    toolUses: [],
    delta: async () => ({ created: [], changed: [], deleted: [] }),
  }
}
