import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type HookLab, openHookLab } from '../../../../test/support/hook-lab.ts'
import { isAlive } from '../../../../test/support/is-alive.ts'
import { ledgerFiles, readLedger } from '../../../guard-engine/ledger/read-ledger.ts'
import { lockHolder } from '../../../io/lock.ts'

let lab: HookLab
const on = { GANTRY_GUARD_RESIDENT: 'on', GANTRY_GUARD_IDLE_MS: '60000' }
beforeAll(async () => {
  lab = await openHookLab()
})
afterAll(() => lab.remove())
beforeEach(() => {
  for (const path of [lab.guardHome, join(lab.root, '.harness')])
    rmSync(path, { recursive: true, force: true })
})
afterEach(async () => {
  const pids = helpers()
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await until(() => !pids.some(isAlive))
})

const run = () => join(lab.guardHome, 'run')

/** What a helper publishes for launchers. */
function published(): { file: string; secrets: readonly string[]; socket: string } | null {
  const name = existsSync(run())
    ? readdirSync(run()).find((entry) => /^[0-9a-f]{16}$/.test(entry))
    : undefined
  if (name === undefined) return null
  const [question = '', answer = '', socket = ''] = readFileSync(join(run(), name), 'utf8').trim().split(' ')
  return { file: join(run(), name), secrets: [question, answer], socket }
}

function known(): NonNullable<ReturnType<typeof published>> {
  const found = published()
  if (found === null) throw new Error('no helper')
  return found
}

/** Processes that run the program of this lab as a helper. */
function helpers(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter(Number.isInteger)
    .filter((pid) => {
      try {
        const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
        return argv[1] === lab.hookBin && argv[2] === '--serve'
      } catch {
        return false
      }
    })
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 20_000) throw new Error('it did not come about')
    await wait(25)
  }
}

const started = (more: Record<string, string> = {}) =>
  lab.launch('claude-code', ['SessionStart'], lab.payload('SessionStart', { source: 'startup' }), {
    ...on,
    ...more,
  }).result

async function withHelper(): Promise<number> {
  await started()
  await until(() => published() !== null)
  return lockHolder(`${known().socket}.lock`)?.pid ?? 0
}

const bash = (command: string): string =>
  lab.payload('PreToolUse', { tool_name: 'Bash', tool_input: { command }, tool_use_id: 't1' })
const judge = (command: string, more: Record<string, string> = {}) =>
  lab.launch('claude-code', ['PreToolUse'], bash(command), { ...on, ...more }).result
const events = () =>
  ledgerFiles(lab.guardHome, lab.root)
    .slice(1)
    .flatMap((path) => readLedger(lab.guardHome, path).entries)
    .filter(({ kind }) => kind === 'event')

/** A write to `.env` is denied and `ls` is not, by the helper or by as many Nodes. */
async function expectAnswers(nodes: 'by the helper' | 'by Node', more: Record<string, string> = {}) {
  const before = lab.nodeStarts().length
  const denied = await judge('echo x > .env', more)
  expect(denied).toMatchObject({ code: 2, stderr: expect.stringContaining('`.env` is protected') })
  expect(JSON.parse(denied.stdout).hookSpecificOutput.permissionDecision).toBe('deny')
  expect(await judge('ls', more)).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(lab.nodeStarts().length - before).toBe(nodes === 'by Node' ? 2 : 0)
}

test('a session starts a helper that only this user can ask, and then no hook starts Node', async () => {
  expect((await started()).code).toBe(0)
  await until(() => published() !== null)
  const { file, socket } = known()
  for (const path of [file, socket]) expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(run()).mode & 0o777).toBe(0o700)
  await expectAnswers('by the helper')
  expect(events()).toHaveLength(3)
})

test('a prompt starts a helper too, because the last one may have ended', async () => {
  await lab.launch('claude-code', ['UserPromptSubmit'], lab.payload('UserPromptSubmit', { prompt: 'x' }), on)
    .result
  await until(() => published() !== null)
})

test('a hook that the launcher did not start starts no helper, and neither does one that is configured so', async () => {
  const payload = lab.payload('SessionStart', { source: 'startup' })
  await lab.start(['--agent', 'claude-code', 'SessionStart'], payload, on).result
  await started({ GANTRY_GUARD_RESIDENT: 'off' })
  await wait(500)
  expect(helpers()).toEqual([])
})

test('many sessions that start at once share one helper', async () => {
  await Promise.all(Array.from({ length: 8 }, () => started()))
  await until(() => published() !== null)
  await until(() => helpers().length === 1)
  await expectAnswers('by the helper')
})

test('thirty hooks at once are each answered and recorded once', async () => {
  await withHelper()
  const before = events().length
  const commands = Array.from({ length: 30 }, (_, index) => (index % 2 ? `ls ${index}` : 'echo x > .env'))
  const replies = await Promise.all(commands.map((command) => judge(command)))
  // On a starved machine some pass the time limit of hooks, which refuses whatever was asked.
  const inTime = replies.filter(({ stderr }) => !stderr.includes('did not answer in time'))
  const codes = replies.map(({ code }) => code)
  expect(codes).toEqual(replies.map((reply, index) => (index % 2 && inTime.includes(reply) ? 0 : 2)))
  const recorded = new Set(events().map(({ id }) => id)).size - before
  expect(recorded).toBeLessThanOrEqual(30)
  expect(recorded).toBeGreaterThanOrEqual(inTime.length)
})

test('an idle helper ends and removes its files', async () => {
  await started({ GANTRY_GUARD_IDLE_MS: '700' })
  await until(() => published() !== null)
  await until(() => helpers().length === 0)
  expect(readdirSync(run())).toEqual([])
  await expectAnswers('by Node')
})

test('after a helper was killed, Node answers, and the next session starts another helper', async () => {
  const pid = await withHelper()
  process.kill(pid, 'SIGKILL')
  await until(() => !isAlive(pid))
  expect(existsSync(known().socket)).toBe(true)
  await expectAnswers('by Node')
  await started()
  await until(() => helpers().length === 1 && helpers()[0] !== pid)
})

test('a stopped helper is abandoned, and the event still counts once when it goes on', async () => {
  const pid = await withHelper()
  const before = events().length
  process.kill(pid, 'SIGSTOP')
  await expectAnswers('by Node')
  expect(events()).toHaveLength(before + 2)
  process.kill(pid, 'SIGCONT')
  await wait(1500)
  expect(new Set(events().map(({ id }) => id)).size).toBe(before + 2)
})

test('a helper whose program changed is not asked, does not answer and ends', async () => {
  const pid = await withHelper()
  const { atime, mtime } = statSync(lab.hookBin)
  const { file } = known()
  appendFileSync(lab.hookBin, '\n')
  try {
    await expectAnswers('by Node')
    await until(() => !isAlive(pid))
    expect(existsSync(file)).toBe(false)
  } finally {
    writeFileSync(lab.hookBin, readFileSync(lab.hookBin, 'utf8').slice(0, -1))
    utimesSync(lab.hookBin, atime, mtime)
  }
})

test('a hook with another environment is not answered, even if it asks this helper', async () => {
  await withHelper()
  const other = { GIT_DIR: '/elsewhere' }
  await expectAnswers('by Node', other)
  const [, name = ''] = /--launched=e_\w+,(\w+),/.exec(lab.nodeStarts().at(-1) ?? '') ?? []
  copyFileSync(known().file, join(run(), name))
  await expectAnswers('by Node', other)
  await expectAnswers('by the helper')
})

test('a question without the secret of the helper gets no answer', async () => {
  await withHelper()
  const { file, secrets, socket } = known()
  writeFileSync(file, `${'0'.repeat(64)} ${secrets[1]} ${socket}\n`)
  const before = events().length
  await expectAnswers('by Node')
  expect(events()).toHaveLength(before + 2)
})

test.each(['others can read', 'another user owns', 'is empty', 'is half written'])(
  'a file that %s is not trusted',
  async (how) => {
    await withHelper()
    const { file } = known()
    if (how === 'others can read') chmodSync(file, 0o644)
    else if (how === 'is empty') writeFileSync(file, '')
    else if (how === 'is half written') writeFileSync(file, readFileSync(file, 'utf8').trimEnd())
    // Only root can give a file away.
    else if (process.getuid?.() === 0) chownSync(file, 12345, 12345)
    else return
    await expectAnswers('by Node')
  },
)

/** What a program on the socket could answer, given the secrets. */
const answers: Readonly<Record<string, (secrets: readonly string[]) => string>> = {
  nothing: () => '',
  'only signs of life': () => '\n\n\n',
  'something else': () => 'HTTP/1.1 200 OK\r\n\r\n',
  'the secret of questions': ([question]) => `${question} 0 0 0\n`,
  'half of the secret': ([, answer = '']) => `${answer.slice(0, 32)} 0 0 0\n`,
  'an answer that is cut in its head': ([, answer]) => `${answer} 0 0`,
  'an answer that is cut in its text': ([, answer]) => `${answer} 0 100 0\n{"hookSpecific`,
  'an answer with something behind it': ([, answer]) => `${answer} 0 0 0\n{}`,
  'an exit code that is none': ([, answer]) => `${answer} -1 0 0\n`,
}

test('a program on the socket that gives anything but a whole answer with the secret is not believed', async () => {
  let answerOf = answers.nothing
  await impostor((client, secrets) => client.end(answerOf?.(secrets) ?? ''))
  for (const [name, given] of Object.entries(answers)) {
    answerOf = given
    const before = lab.nodeStarts().length
    expect((await judge('echo x > .env')).code, name).toBe(2)
    expect(lab.nodeStarts().length, name).toBe(before + 1)
  }
  // An answer with the right secret is accepted, so the cases above fail for the reason they name.
  answerOf = ([, answer]) => `\n${answer} 7 2 3\nhiyou`
  expect(await judge('ls')).toEqual({ code: 7, stdout: 'hi', stderr: 'you' })
})

test('a program on the socket that begins an answer and stays silent is not waited for', async () => {
  await impostor((client, [, answer]) => void client.write(`\n${answer} 0 5`))
  await expectAnswers('by Node')
})

/** A server in the place of a killed helper. */
async function impostor(answer: (client: Socket, secrets: readonly string[]) => void): Promise<void> {
  const pid = await withHelper()
  process.kill(pid, 'SIGKILL')
  await until(() => !isAlive(pid))
  const { secrets, socket } = known()
  rmSync(socket)
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => {})
    client.resume().on('end', () => answer(client, secrets))
  })
  // Ends with the tests, together with clients that it left waiting.
  server.unref()
  await new Promise<void>((resolve) => server.listen(socket, resolve))
}

test.each([100_000, 900_000, 10_000_000])('a payload of %i bytes is judged as a whole', async (bytes) => {
  await withHelper()
  for (const [name, code] of [
    ['.env', 2],
    ['big.txt', 0],
  ] as const) {
    const payload = lab.payload('PreToolUse', {
      tool_name: 'Write',
      // Behind the content: what is cut off would pass.
      tool_input: { content: 'x'.repeat(bytes), file_path: join(lab.root, name) },
      tool_use_id: 't1',
    })
    expect((await lab.launch('claude-code', ['PreToolUse'], payload, on).result).code, name).toBe(code)
  }
})

test.each(['PERL_UNICODE=O', 'PERL_UNICODE=E', 'PERL_UNICODE=SDA', 'PERL5OPT=-C63'])(
  'with %s in the environment the answers are the same',
  async (variable) => {
    const [name = '', value = ''] = variable.split('=')
    await withHelper()
    await expectAnswers('by the helper', { [name]: value })
    await expectAnswers('by Node', { [name]: value, GANTRY_GUARD_RESIDENT: 'off' })
  },
)

test('a Perl that refuses to start Node blocks the tool', async () => {
  expect((await judge('ls', { PERL5OPT: '-T' })).code).toBe(2)
})

test('a payload that cannot be judged blocks, with the same words as without a helper', async () => {
  await withHelper()
  for (const input of ['', 'hello', '{"session_id":', Uint8Array.from([0x7b, 0xff, 0x7d, 0x0a, 0])]) {
    const helped = await lab.launch('claude-code', ['PreToolUse'], input, on).result
    const alone = await lab.launch('claude-code', ['PreToolUse'], input).result
    expect(helped.code).toBe(2)
    expect(helped).toEqual(alone)
  }
})

test('input that never ends blocks before the agent stops waiting, and leaves no process behind', async () => {
  await withHelper()
  const { child, result } = lab.launch('claude-code', ['PreToolUse'], null, on)
  child.stdin?.write(bash('ls'))
  const { code, stderr } = await result
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did not close the input'),
  })
  child.stdin?.end()
})
