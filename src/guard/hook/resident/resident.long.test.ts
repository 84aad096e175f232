import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type HookLab, openHookLab } from '../../../../test/support/hook-lab.ts'
import { hookPayloads } from '../../../../test/support/hook-payloads.ts'
import { isAlive } from '../../../../test/support/is-alive.ts'
import { type HookedAgent, hookCodecs } from '../../../agents/hook-codecs.ts'
import { version } from '../../../core/version.ts'
import { ledgerFiles, readLedger } from '../../../guard-engine/ledger/read-ledger.ts'
import { guardKey } from '../../../guard-engine/ledger/seal-line.ts'
import { lockHolder } from '../../../io/lock.ts'
import { socketPath } from './resident-at.ts'
import { askResident } from './resident-frame.ts'

let lab: HookLab
let env: Record<string, string>
beforeAll(async () => {
  lab = await openHookLab()
  env = { ...lab.env, GANTRY_GUARD_RESIDENT: 'on', GANTRY_GUARD_IDLE_MS: '60000' }
}, 60_000)
afterAll(() => lab.remove())
beforeEach(() => {
  for (const path of [lab.guardHome, join(lab.root, '.harness')])
    rmSync(path, { recursive: true, force: true })
})
afterEach(async () => {
  const pid = helperPid()
  if (pid !== null) process.kill(pid, 'SIGKILL')
  await until(() => pid === null || !isAlive(pid))
})

const started = (more: Record<string, string> = {}) =>
  lab.start(['--agent', 'claude-code', 'SessionStart'], lab.payload('SessionStart', { source: 'startup' }), {
    ...env,
    ...more,
  }).result
const bash = (command: string): string =>
  lab.payload('PreToolUse', { tool_name: 'Bash', tool_input: { command }, tool_use_id: 't1' })
const asked = (command: string) =>
  lab.start(['--agent', 'claude-code', 'PreToolUse'], bash(command), env).result
const events = () =>
  ledgerFiles(lab.guardHome, lab.root)
    .slice(1)
    .flatMap((path) => readLedger(lab.guardHome, path).entries)
    .filter(({ kind }) => kind === 'event')

function socket(): string {
  const { size, mtimeMs } = statSync(lab.hookBin)
  const path = socketPath({
    guardHome: lab.guardHome,
    edition: `${version}-${size}-${mtimeMs}`,
    env,
    uid: process.getuid?.() ?? null,
  })
  if (path === null) throw new Error('no place for a socket')
  return path
}

function helperPid(): number | null {
  return existsSync(lab.guardHome) ? (lockHolder(`${socket()}.lock`)?.pid ?? null) : null
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 400) throw new Error('it did not come about')
    await wait(25)
  }
}

async function withHelper(): Promise<number> {
  await started()
  await until(() => existsSync(socket()) && helperPid() !== null)
  return helperPid() ?? 0
}

test('the start of a session starts a helper on a socket of this user, which holds nothing of the agent open', async () => {
  expect((await started()).code).toBe(0)
  await until(() => existsSync(socket()))
  expect(statSync(socket()).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(socket())).mode & 0o777).toBe(0o700)
  const reply = await askResident(
    socket(),
    {
      agent: 'claude-code',
      event: 'PreToolUse',
      agentVersion: null,
      env,
      payload: Buffer.from(bash('echo x > .env')),
      eventId: 'e_direct',
    },
    guardKey(lab.guardHome),
  )
  expect(reply?.exitCode).toBe(2)
  const pid = helperPid() ?? 0
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('GANTRY_GUARD_HOME')
})

test('many sessions that begin at once have one helper', async () => {
  await Promise.all(Array.from({ length: 12 }, () => started()))
  await until(() => existsSync(socket()))
  const pid = helperPid()
  await wait(500)
  expect(helperPid()).toBe(pid)
  expect((await asked('ls')).code).toBe(0)
  expect(helpers()).toEqual([pid])
}, 60_000)

/** Processes that run the bundle of this lab as a helper. */
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

test('a helper nobody asks any more ends and takes its socket along', async () => {
  await started({ GANTRY_GUARD_IDLE_MS: '700' })
  await until(() => existsSync(socket()))
  const pid = helperPid() ?? 0
  await until(() => !isAlive(pid))
  expect(existsSync(socket())).toBe(false)
})

test('a helper that was killed leaves a socket behind: the hook answers itself, and the next session starts another', async () => {
  const pid = await withHelper()
  process.kill(pid, 'SIGKILL')
  await until(() => !isAlive(pid))
  expect(existsSync(socket())).toBe(true)
  expect((await asked('ls')).code).toBe(0)
  expect((await asked('echo x > .env')).code).toBe(2)
  const next = await withHelper()
  expect(next).not.toBe(pid)
})

test('a helper that hangs is given up, and the event still counts once', async () => {
  const pid = await withHelper()
  const before = events().length
  process.kill(pid, 'SIGSTOP')
  expect((await asked('echo x > .env')).code).toBe(2)
  expect(events()).toHaveLength(before + 1)
  process.kill(pid, 'SIGCONT')
  // It wakes up with the question still in its hands, and may answer it to nobody.
  await wait(1500)
  const ids = new Set(events().map(({ id }) => id))
  expect(ids.size).toBe(before + 1)
})

test('something else that answers on the socket is not believed', async () => {
  const path = await withHelper().then(() => socket())
  process.kill(helperPid() ?? 0, 'SIGKILL')
  await until(() => helperPid() === null)
  rmSync(path)
  for (const answer of ['', 'nonsense', 'abc\n{"stdout":"","stderr":"","exitCode":0}\n']) {
    const server = await impostor(path, answer)
    expect((await asked('echo x > .env')).code, JSON.stringify(answer)).toBe(2)
    await new Promise((resolve) => server.close(resolve))
  }
})

async function impostor(path: string, answer: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => {})
    client.resume().on('end', () => client.end(answer))
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return server
}

test('a helper whose program was changed answers no more', async () => {
  const pid = await withHelper()
  const { atime, mtime } = statSync(lab.hookBin)
  appendFileSync(lab.hookBin, '\n')
  try {
    await until(() => !isAlive(pid))
  } finally {
    writeFileSync(lab.hookBin, readFileSync(lab.hookBin, 'utf8').slice(0, -1))
    utimesSync(lab.hookBin, atime, mtime)
  }
})

test('no question that was not sealed with the key is answered', async () => {
  await withHelper()
  const request = {
    agent: 'claude-code',
    event: 'PreToolUse',
    agentVersion: null,
    env,
    payload: Buffer.from(bash('ls')),
    eventId: 'e_forged',
  }
  expect(await askResident(socket(), request, new Uint8Array(32))).toBeNull()
  expect(events().some(({ id }) => id === 'e_forged')).toBe(false)
})

const agents = Object.keys(hookCodecs) as HookedAgent[]

test.each(agents)(
  'the helper answers every payload of %s as the hook itself does, to the byte',
  async (agent) => {
    await withHelper()
    const oneShot = { GANTRY_GUARD_HOME: join(lab.top, `guard-${agent}`) }
    for (const { name, event, payload } of hookPayloads(agent)) {
      const text = JSON.stringify(payload).replaceAll(
        /"cwd":"[^"]*"/g,
        JSON.stringify({ cwd: lab.root }).slice(1, -1),
      )
      const args = ['--agent', agent, event]
      const [self, helped] = [
        await lab.start(args, text, oneShot).result,
        await lab.start(args, text, env).result,
      ]
      expect(plain(helped), name).toEqual(plain(self))
    }
    expect(helperPid(), 'it is still there').not.toBeNull()
  },
  120_000,
)

/** Without the ids of decisions, which are random. */
function plain({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }) {
  const hide = (text: string): string => text.replaceAll(/d_[a-z0-9]{16}/g, 'd_')
  return { code, stdout: hide(stdout), stderr: hide(stderr) }
}
