import { describe, expect, test } from 'vitest'
import type { HookEvent, ToolAction, ToolOutcome } from '../core/hook-event.ts'
import { createRedactor } from '../core/redactor.ts'
import { outcomeSignature } from './outcome-signature.ts'
import { callSignature, storeEvent } from './store-event.ts'

const token = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40)
const redactor = createRedactor()
const outcome: ToolOutcome = {
  kind: 'success',
  exitCode: 0,
  output: '',
  interrupted: false,
  timedOut: false,
  background: false,
}
const base = {
  agent: 'claude-code',
  session: 's',
  agentId: null,
  agentType: null,
  promptId: null,
  cwd: '/repo/sub',
  root: '/repo',
} as const

function finished(action: ToolAction, input: unknown, change: Partial<ToolOutcome> = {}): HookEvent {
  return {
    ...base,
    kind: 'tool_after',
    call: { id: 'c1', tool: 'Tool', action, input },
    outcome: { ...outcome, ...change },
  }
}

const shell = (command: string): ToolAction => ({
  kind: 'shell',
  command,
  background: false,
  language: 'bash',
})

describe('a stored event', () => {
  test('has no secret in command, input, keys, output, prompt or message', () => {
    const events: HookEvent[] = [
      finished(shell(`curl -H "Authorization: Bearer ${token}" x`), { command: `curl ${token}`, [token]: 1 }),
      finished({ kind: 'unknown', server: null }, { deep: [{ password: 'hunter2hunter2' }], a: [token] }),
      finished(shell('env'), {}, { output: `GITHUB_TOKEN=${token}\n` }),
      { ...base, kind: 'prompt', text: `use ${token}`, synthetic: false },
      { ...base, kind: 'stop', again: false, lastMessage: token, background: false },
      {
        ...base,
        kind: 'tool_denied',
        call: { id: null, tool: 'Bash', action: shell(token), input: token },
        reason: token,
      },
    ]
    for (const event of events) {
      const stored = JSON.stringify(storeEvent(event, {}, redactor))
      expect(stored).not.toContain(token)
      expect(stored).not.toContain('hunter2')
    }
  })

  test('has the same signature for all successful reads, but not for other outcomes', () => {
    const signatureOf = (command: string, change: Partial<ToolOutcome>): string | undefined =>
      storeEvent(finished(shell(command), { command }, change), {}, redactor).call?.outcome?.signature
    const one = { output: 'one thing went wrong' }
    const other = { output: 'another thing went wrong' }
    expect(signatureOf('ls src | head -3', one)).toBe(signatureOf('ls src | head -3', other))
    expect(signatureOf('npm test', one)).not.toBe(signatureOf('npm test', other))
    const failed = { kind: 'failure', exitCode: 2 } as const
    expect(signatureOf('ls src', { ...one, ...failed })).not.toBe(
      signatureOf('ls src', { ...other, ...failed }),
    )
  })

  test('keeps no part of a secret that is cut', () => {
    for (let shift = 0; shift < 60; shift += 1) {
      const text = `${'x '.repeat(1_000 - shift / 2)}${token} ${'y '.repeat(20_000)}`
      const stored = JSON.stringify(
        storeEvent(finished(shell(text), { content: text }, { output: text }), {}, redactor),
      )
      expect(stored).not.toContain(token.slice(0, 12))
    }
  })

  test('is small, however large the event is', () => {
    const huge = 'line of text\n'.repeat(800_000)
    const input = {
      content: huge,
      list: Array.from({ length: 10_000 }, () => huge.slice(0, 3_000)),
      ...Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`key${index}`, index])),
      deep: JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`),
    }
    const stored = storeEvent(finished(shell(huge), input, { output: huge }), {}, redactor)
    expect(JSON.stringify(stored).length).toBeLessThan(40_000)
    expect(stored.call?.outcome?.head.split('\n').length).toBeLessThanOrEqual(12)
  })

  test('has absolute paths without duplicates', () => {
    const paths = (action: ToolAction, input: unknown = {}): readonly string[] | undefined =>
      storeEvent(finished(action, input), {}, redactor).call?.paths
    expect(paths({ kind: 'write', path: '../a.ts', content: null })).toEqual(['/repo/a.ts'])
    const files = [
      { path: 'a', change: 'update', to: 'b' },
      { path: './a', change: 'update' },
    ] as const
    expect(paths({ kind: 'patch', text: '', files })).toEqual(['/repo/sub/a', '/repo/sub/b'])
    expect(paths({ kind: 'unknown', server: 'x' }, { path: '/etc/x', file_path: 7 })).toEqual(['/etc/x'])
    expect(paths({ kind: 'read', path: null })).toEqual([])
    expect(paths(shell('cat a'))).toEqual([])
  })

  test('counts a call that was only started or interrupted as neither success nor failure', () => {
    const kind = (change: Partial<ToolOutcome>): string | undefined =>
      storeEvent(finished(shell('x'), {}, change), {}, redactor).call?.outcome?.kind
    expect(kind({ background: true })).toBe('unknown')
    expect(kind({ kind: 'failure', interrupted: true })).toBe('unknown')
    expect(kind({ kind: 'failure', interrupted: true, timedOut: true })).toBe('failure')
    expect(kind({})).toBe('success')
  })

  test('is plain JSON and survives a round trip', () => {
    const stored = storeEvent(
      finished(shell('x'), { a: [1, null, true, 'é\ud800'] }, { durationMs: 12 }),
      {},
      redactor,
    )
    expect(JSON.parse(JSON.stringify(stored))).toEqual(stored)
    expect(stored.call?.outcome?.durationMs).toBe(12)
  })
})

describe('the signature of a call', () => {
  const of = (input: unknown, tool = 'Bash'): string => callSignature({ tool, input })

  test('ignores the order of keys, remarks and surrounding white space', () => {
    expect(of({ a: 1, b: { c: 2, d: 3 } })).toBe(of({ b: { d: 3, c: 2 }, a: 1 }))
    expect(of({ command: 'npm test', description: 'one' })).toBe(
      of({ command: 'npm test\n', description: 'two' }),
    )
  })

  test('distinguishes tools, values, types and lists', () => {
    const all = [
      of({ a: 1 }),
      of({ a: '1' }),
      of({ a: [1] }),
      of({ a: 1 }, 'X'),
      of({ a: null }),
      of('a'),
      of({}),
    ]
    expect(new Set(all).size).toBe(all.length)
    expect(of(['a', 'b'])).not.toBe(of(['b', 'a']))
    expect(of({ command: 'a  b' })).not.toBe(of({ command: 'a b' }))
  })
})

describe('the signature of an outcome', () => {
  const of = (output: string, exitCode: number | null = 1): string =>
    outcomeSignature({ ...outcome, kind: 'failure', output, exitCode })

  test.each([
    ['times', 'at 2026-02-19T10:00:00.123Z boom happened', 'at 2026-02-20T11:22:33Z boom happened'],
    ['clocks', '[10:00:01] server refused us', '[23:59:59] server refused us'],
    ['durations', 'timed out after 5003 ms here', 'timed out after 5.1 s here'],
    [
      'ids',
      'request 7d444840-9dc0-11d1-b245-5ffdce74fad2 lost',
      'request 00000000-9dc0-11d1-b245-5ffdce74fad2 lost',
    ],
    ['addresses', 'segfault at 0x7ffe12 in main', 'segfault at 0x1 in main'],
    ['lines and columns', 'src/a.ts:10:4 is wrong here', 'src/a.ts:999:1 is wrong here'],
    ['places in brackets', 'a.ts(3,4): error in type', 'a.ts(13,44): error in type'],
    ['temporary paths', 'cannot open /tmp/x-8fK2/out.log now', 'cannot open /var/folders/zz/q1/out.log now'],
    ['process ids', 'worker 4711 crashed badly', 'worker 99 crashed badly'],
    [
      'which files a build compiles',
      "gcc -c src/a.c -o build/a.o\nar rcs build/lib.a build/a.o\n[ 50%] Built target lib\nAssertion `n == 4' failed.",
      "Assertion `n == 4' failed.",
    ],
    ['the ends of lines', 'first line here\r\nsecond line', 'first line here\nsecond line\n\n'],
  ])('ignores %s', (_, one, other) => {
    expect(of(one)).toBe(of(other))
  })

  test.each([
    ['how many tests failed', 'Tests: 3 failed in all', 'Tests: 2 failed in all'],
    ['how many tests passed', '12 passing tests now', '13 passing tests now'],
    ['what was compared', 'expected 3 to be 4 in sum', 'expected 5 to be 4 in sum'],
    [
      'the assertion behind a build',
      "gcc -c a.c -o a.o\nAssertion `n == 4' failed.",
      "Assertion `n == 5' failed.",
    ],
    ['what a compiler says', 'gcc -c a.c\ngcc: error: a.c: no such file', 'gcc -c a.c\ncc1: warnings'],
    ['which file', 'cannot open /tmp/x/one.txt now', 'cannot open /tmp/x/two.txt now'],
    ['the words', 'x is not a function at all', 'x is not defined at all'],
  ])('depends on %s', (_, one, other) => {
    expect(of(one)).not.toBe(of(other))
  })

  test('depends on the exit code, and marks an outcome without text', () => {
    expect(of('boom happened here', 1)).not.toBe(of('boom happened here', 2))
    expect(of('')).toMatch(/^bare-1/)
    expect(of(' \n12\n')).toMatch(/^bare-1/)
  })

  test('is fast for a hostile text', () => {
    for (const piece of ['/tmp/', 'a:1', '1:', '0x', 'abcdef0', '(1,', '1 ', '.1', ':', '/tmp/a.b'])
      expect(of(piece.repeat(200_000))).toBeTypeOf('string')
  })
})
