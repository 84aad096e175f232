import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { needs } from '../../test/support/needs.ts'
import { type ExecRequest, exec } from './exec.ts'
import { findPty, ptyArgv, quoteForSh } from './pty.ts'

const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' }
const hasPty = await findPty(env)
const run = (argv: ExecRequest['argv'], options: Partial<ExecRequest> = {}) =>
  exec({ argv: ptyArgv(argv), cwd: '/', env, ...options })

test('a machine without the program has no pseudo-terminal, which is not an error', async () => {
  expect(await findPty({ PATH: '/nowhere' })).toBe(false)
})

test('quoting is exact for any arguments', async () => {
  const odd = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll('\0', ''))
  const word = fc.oneof(
    odd,
    fc.constantFrom("'", '"', '\\', '$HOME', '`id`', '\n', '-n', '*', '', '!!', "'\\''"),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 8 }), async (args) => {
      const command = ['printf', '%s\\0', ...args].map(quoteForSh).join(' ')
      const { stdout } = await exec({ argv: ['sh', '-c', command], cwd: '/', env })
      expect(stdout.text.split('\0').slice(0, -1)).toEqual(args.map((arg) => Buffer.from(arg).toString()))
    }),
    { numRuns: 20 },
  )
})

needs('script(1) of util-linux', hasPty)('arguments pass through the terminal untouched', async () => {
  const word = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll('\0', ''))
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 5 }), async (args) => {
      const { stdout } = await run(['sh', '-c', 'printf "%s|" "$@" | od -An -v -tx1', 'sh', ...args])
      expect(stdout.text.replaceAll(/\s/g, '')).toBe(
        Buffer.from(args.map((arg) => `${arg}|`).join('')).toString('hex'),
      )
    }),
    { numRuns: 6 },
  )
})

needs('script(1) of util-linux', hasPty)(
  'the program sees a terminal of the asked size and its own environment',
  async () => {
    const see = ['sh', '-c', 'test -t 0 && test -t 1 && test -t 2 && stty size; echo "$SHELL"'] as const
    expect((await run(see)).stdout.text).toBe('24 80\r\n\r\n')
    const wide = await exec({
      argv: ptyArgv(see, { rows: 50, columns: 132 }),
      cwd: '/',
      env: { ...env, SHELL: '/bin/odd' },
    })
    expect(wide.stdout.text).toBe('50 132\r\n/bin/odd\r\n')
    const { stdout } = await run(['env'])
    expect(stdout.text).not.toContain('GANTRY_PTY')
    expect(stdout.text).not.toMatch(/^SHELL=/m)
  },
)

needs('script(1) of util-linux', hasPty)('exit codes and signals are passed on', async () => {
  expect((await run(['sh', '-c', 'exit 7'])).exitCode).toBe(7)
  expect((await run(['sh', '-c', 'kill -KILL $$'])).exitCode).toBe(137)
  expect((await run(['no-such-program'])).exitCode).toBe(127)
})

needs('script(1) of util-linux', hasPty)('input arrives and is not echoed', async () => {
  expect((await run(['cat'], { stdin: 'hello\n' })).stdout.text).toBe('hello\r\n')
  expect((await run(['cat'])).stdout.text).toBe('')
})

needs('script(1) of util-linux', hasPty)(
  'a stop reaches the program although it lives in another session',
  async () => {
    const result = await run(['sh', '-c', 'trap "" TERM HUP; echo $$; sleep 60; sleep 60'], {
      timeoutMs: 400,
      graceMs: 100,
    })
    expect(result.ending).toBe('timed_out')
    const pid = Number(result.stdout.text)
    expect(pid).toBeGreaterThan(0)
    expect(() => readFileSync(`/proc/${pid}/environ`)).toThrow()
  },
)
