import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type ExecRequest, exec, shell } from './exec.ts'

const cwd = mkdtempSync(join(tmpdir(), 'gantry-exec-'))
const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' }
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const run = (argv: ExecRequest['argv'], options: Partial<ExecRequest> = {}) =>
  exec({ argv, cwd, env, ...options })
const sh = (command: string, options: Partial<ExecRequest> = {}) => run(shell(command), options)

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

const pidsIn = (text: string): number[] => text.trim().split(/\s+/).map(Number)

describe('the result of a program', () => {
  test('has the exit code and both streams', async () => {
    const result = await sh('echo out; echo err >&2; exit 3')
    expect(result).toMatchObject({ ending: 'exited', exitCode: 3, signal: null, error: null })
    expect(result.stdout).toEqual({ text: 'out\n', totalBytes: 4, truncated: false })
    expect(result.stderr.text).toBe('err\n')
    expect(result.pid).toBeGreaterThan(0)
    expect(result).not.toHaveProperty('survivors')
  })

  test('distinguishes a signal from an exit', async () => {
    expect(await sh('kill -USR1 $$')).toMatchObject({
      ending: 'signalled',
      exitCode: null,
      signal: 'SIGUSR1',
    })
  })

  test('arguments reach the program without a shell', async () => {
    const result = await run(['printf', '%s|', 'a b', '$HOME', "it's", '', '*'])
    expect(result.stdout.text).toBe("a b|$HOME|it's||*|")
  })

  test('the environment is the given one and one mark', async () => {
    const { stdout } = await run(['/usr/bin/env'], { env: { A: '1' } })
    expect(stdout.text.trim().split('\n').sort()).toEqual(['A=1', expect.stringMatching(/^GANTRY_EXEC_ID=/)])
  })

  test('the standard streams can be opened by name', async () => {
    const result = await sh(
      'echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr; cat /dev/stdin',
      {
        stdin: 'd\n',
      },
    )
    expect(result.stdout.text).toBe('a\nc\nd\n')
    expect(result.stderr.text).toBe('b\nc\n')
  })

  test('every chunk is passed on as it arrives, also beyond the cap', async () => {
    let streamed = 0
    const result = await sh('head -c 500000 /dev/zero', {
      maxOutputBytes: 1000,
      onStdout: (chunk) => {
        streamed += chunk.length
      },
    })
    expect(streamed).toBe(500_000)
    expect(result.stdout).toMatchObject({ totalBytes: 500_000, truncated: true })
    expect(result.stdout.text.length).toBeLessThan(1100)
    expect(result.stdout.text).toContain('\n[... 499000 bytes cut ...]\n')
  })

  test('hundreds of megabytes of output use no more memory than the cap', async () => {
    const before = process.memoryUsage()
    let peak = 0
    const result = await run(['head', '-c', '300000000', '/dev/zero'], {
      maxOutputBytes: 10_000,
      onStdout: () => {
        if (Math.random() < 0.01) peak = Math.max(peak, process.memoryUsage().heapUsed)
      },
    })
    expect(result.stdout.totalBytes).toBe(300_000_000)
    expect(Buffer.byteLength(result.stdout.text)).toBeLessThan(10_100)
    expect(peak - before.heapUsed).toBeLessThan(100_000_000)
    expect(process.memoryUsage().rss - before.rss).toBeLessThan(200_000_000)
  })

  test('characters that arrive in pieces are joined', async () => {
    const result = await sh(`printf '\\342'; sleep 0.05; printf '\\202\\254'`)
    expect(result.stdout.text).toBe('€')
  })
})

describe('stdin', () => {
  test('is empty unless something is given', async () => {
    expect((await run(['cat'])).stdout.text).toBe('')
    expect((await run(['cat'], { stdin: '' })).exitCode).toBe(0)
  })

  test('is delivered byte for byte', async () => {
    const bytes = Uint8Array.from({ length: 1 << 20 }, (_, index) => index % 251)
    const { stdout } = await run(['cksum'], { stdin: bytes })
    writeFileSync(join(cwd, 'same'), bytes)
    expect(stdout.text).toBe((await sh('cksum < same')).stdout.text)
  })

  test('may be left unread', async () => {
    expect(await run(['true'], { stdin: 'x'.repeat(1 << 20) })).toMatchObject({
      ending: 'exited',
      exitCode: 0,
    })
  })
})

describe('a program that cannot be started is a value', () => {
  const plain = join(cwd, 'plain')
  const orphan = join(cwd, 'orphan')
  writeFileSync(plain, 'no program')
  writeFileSync(orphan, '#!/no/such/interpreter\n')
  chmodSync(orphan, 0o755)
  const cases: [string, Partial<ExecRequest> & Pick<ExecRequest, 'argv'>, RegExp][] = [
    ['not on the PATH', { argv: ['no-such-program'] }, /no-such-program: it is not on the PATH/],
    ['no such file', { argv: ['./no/such'] }, /there is no such file/],
    ['not executable', { argv: [plain] }, /not an executable file/],
    ['missing interpreter', { argv: [orphan] }, /the interpreter in its first line/],
    ['missing directory', { argv: ['true'], cwd: join(cwd, 'nowhere') }, /working directory .*nowhere/],
    ['a file as directory', { argv: ['true'], cwd: plain }, /working directory .*plain/],
    ['arguments too long', { argv: ['true', 'x'.repeat(4_000_000)] }, /longer than the system allows/],
    ['a NUL in an argument', { argv: ['true', 'a\0b'] }, /null bytes/],
  ]
  test.each(cases)('%s', async (_, request, message) => {
    const result = await exec({ cwd, env, stdin: 'unused', ...request })
    expect(result).toMatchObject({ ending: 'not_started', exitCode: null, pid: null })
    expect(result.error).toMatch(message)
  })
})

describe('the end of a program ends all it started', () => {
  const leavers = [
    ['in the background', 'sleep 600 & echo $!'],
    ['in a session of its own', 'setsid sh -c "echo \\$\\$; exec sleep 600" & sleep 0.05'],
    [
      'without parent and output',
      '(setsid sh -c "echo \\$\\$ >pid; exec sleep 600" >/dev/null 2>&1 &); while [ ! -s pid ]; do sleep 0.01; done; cat pid; rm pid',
    ],
    ['with a cleared environment in the same session', 'env -i sleep 600 & echo $!'],
    [
      'as a tree of sessions',
      'setsid sh -c "echo \\$\\$; setsid env -i sleep 600 & echo \\$!; sleep 600" & sleep 0.1',
    ],
  ] as const
  test.each(leavers)('a process left %s is killed at once', async (_, command) => {
    const result = await sh(command, { cwd: mkdtempSync(join(cwd, 'left-')) })
    expect(result).toMatchObject({ ending: 'exited', exitCode: 0 })
    expect(pidsIn(result.stdout.text).length).toBeGreaterThan(0)
    expect(pidsIn(result.stdout.text).filter(isAlive)).toEqual([])
    expect(result).not.toHaveProperty('survivors')
  })

  test('a background process may finish its last line', { retry: 3 }, async () => {
    expect((await sh('(sleep 0.01; echo late) &')).stdout.text).toBe('late\n')
  })

  test('other processes and those of parallel runs are not killed', async () => {
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' })
    try {
      const long = sh('sleep 0.5; echo survived')
      await Promise.all(Array.from({ length: 8 }, () => sh('setsid sleep 60 & true')))
      expect((await long).stdout.text).toBe('survived\n')
      expect(isAlive(stranger.pid ?? 0)).toBe(true)
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  test('an exec inside an exec is found by both', async () => {
    const inner = `import { exec } from ${JSON.stringify(join(import.meta.dirname, 'exec.ts'))}
      exec({ argv: ['sh', '-c', 'echo $$ > inner; sleep 60'], cwd: '.', env: { PATH: process.env.PATH } })
      setInterval(() => {}, 1000)`
    const program = [process.execPath, '--input-type=module', '-e', inner] as const
    const directory = mkdtempSync(join(cwd, 'nested-'))
    const stop = new AbortController()
    const done = exec({ argv: program, cwd: directory, env, signal: stop.signal, graceMs: 100 })
    let pid = 0
    while (pid === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      pid = Number((await sh('cat inner 2>/dev/null', { cwd: directory })).stdout.text)
    }
    stop.abort()
    expect((await done).ending).toBe('aborted')
    expect(isAlive(pid)).toBe(false)
  })
})

describe('a stop', () => {
  test('at the time limit is soft first', async () => {
    const result = await sh('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.02; done', {
      timeoutMs: 300,
    })
    expect(result).toMatchObject({ ending: 'timed_out', exitCode: null })
    expect(result.stdout.text).toBe('up\nbye\n')
    expect(result.durationMs).toBeGreaterThanOrEqual(300)
  })

  test('does not end a child for time in which this process stood still', async () => {
    const standStill = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
    const result = await sh('echo up; sleep 0.1', { timeoutMs: 800, onStdout: standStill })
    expect(result).toMatchObject({ ending: 'exited', exitCode: 0 })
  })

  test('is hard after the grace time, for the whole tree', async () => {
    const stubborn = 'trap "" TERM; while :; do sleep 1; done'
    const result = await sh(
      `trap "" TERM; echo $$; (setsid sh -c 'echo $$; ${stubborn}' &); sh -c 'echo $$; ${stubborn}' & sleep 60; sleep 60`,
      { timeoutMs: 300, graceMs: 200 },
    )
    expect(result).toMatchObject({ ending: 'timed_out', signal: 'SIGKILL' })
    expect(pidsIn(result.stdout.text)).toHaveLength(3)
    expect(pidsIn(result.stdout.text).filter(isAlive)).toEqual([])
    expect(result.durationMs).toBeGreaterThanOrEqual(500)
  })

  test('waits for the grace of grandchildren, not only of the child', async () => {
    const slow = 'trap "sleep 0.1; echo saved > saved; exit" TERM; : > ready; while :; do sleep 0.02; done'
    const directory = mkdtempSync(join(cwd, 'slow-'))
    const stop = new AbortController()
    const done = sh(`setsid sh -c '${slow}' & sleep 60`, { cwd: directory, signal: stop.signal })
    await sh('while [ ! -e ready ]; do sleep 0.01; done', { cwd: directory })
    stop.abort()
    await done
    expect(readFileSync(join(directory, 'saved'), 'utf8')).toBe('saved\n')
  })

  test('ends a process that keeps forking into new sessions', async () => {
    const directory = mkdtempSync(join(cwd, 'forks-'))
    writeFileSync(join(directory, 'fork.sh'), 'echo $$ >> pids; setsid sh fork.sh &\nsleep 0.01')
    const result = await sh('sh fork.sh; sleep 60', { cwd: directory, timeoutMs: 400, graceMs: 0 })
    expect(result.ending).toBe('timed_out')
    const pids = () => readFileSync(join(directory, 'pids'), 'utf8')
    const atEnd = pids()
    expect(pidsIn(atEnd).length).toBeGreaterThan(3)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(pids()).toBe(atEnd)
    expect(pidsIn(atEnd).filter(isAlive)).toEqual([])
  })

  test('by a signal that is already aborted starts nothing', async () => {
    const result = await sh('touch started', { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ ending: 'aborted', pid: null, exitCode: null })
    expect((await sh('test -e started')).exitCode).toBe(1)
  })

  test('by abort is distinguished from the time limit', async () => {
    const stop = new AbortController()
    const result = await sh('echo up; sleep 60', {
      signal: stop.signal,
      timeoutMs: 30_000,
      onStdout: () => stop.abort(),
    })
    expect(result).toMatchObject({ ending: 'aborted', signal: 'SIGTERM', stdout: { text: 'up\n' } })
  })

  test('that never happened leaves no listener on the shared signal', async () => {
    const warnings: Error[] = []
    const note = (warning: Error): number => warnings.push(warning)
    process.on('warning', note)
    const { signal } = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1
      removeEventListener.apply(signal, args)
    }
    await Promise.all(Array.from({ length: 40 }, () => run(['true'], { signal })))
    await run(['no-such-program'], { signal })
    process.off('warning', note)
    expect([listeners, warnings]).toEqual([0, []])
  })

  test('a limit longer than the maximum timer is no limit', async () => {
    expect((await sh('sleep 0.05', { timeoutMs: 2 ** 40 })).ending).toBe('exited')
    expect((await sh('true', { timeoutMs: Number.POSITIVE_INFINITY })).ending).toBe('exited')
  })
})

test('a callback that throws ends the program, and the error is passed on', async () => {
  const fault = new Error('mine')
  let pid = 0
  const running = sh('trap "" TERM; echo $$; sleep 60; sleep 60', {
    onStdout: (chunk) => {
      pid = Number(Buffer.from(chunk).toString())
      throw fault
    },
  })
  await expect(running).rejects.toBe(fault)
  expect(isAlive(pid)).toBe(false)
})

test('hundreds of runs leave no file descriptor open', async () => {
  const openFiles = (): number => readdirSync('/proc/self/fd').length
  const burst = async (): Promise<void> => {
    for (let round = 0; round < 10; round++)
      await Promise.all(['true', 'true', 'no-such', 'a\0'].map((file) => run([file], { stdin: 'x' })))
  }
  await burst()
  const before = openFiles()
  await burst()
  expect(openFiles()).toBeLessThanOrEqual(before + 4)
})

test('without a temporary directory it still works, through the streams of Node', async () => {
  const program = `import { exec } from ${JSON.stringify(join(import.meta.dirname, 'exec.ts'))}
    const env = { PATH: process.env.PATH }
    const result = await exec({ argv: ['sh', '-c', 'cat; echo err >&2; sleep 60 & exit 5'], cwd: '/', env, stdin: 'in' })
    console.log(result.exitCode, result.stdout.text, result.stderr.text)`
  const argv = [process.execPath, '--input-type=module', '-e', program] as const
  const result = await run(argv, { env: { ...env, TMPDIR: '/nowhere' } })
  expect(result.stdout.text).toBe('5 in err\n\n')
})
