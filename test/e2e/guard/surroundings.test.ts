import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lockHolder } from '../../../src/io/lock.ts'
import { asNobody } from '../../support/as-nobody.ts'
import { type HookLab, openHookLab } from '../../support/hook-lab.ts'
import { isAlive } from '../../support/is-alive.ts'
import { canMount } from '../robustness/lab.ts'

let lab: HookLab
beforeAll(async () => {
  lab = await openHookLab()
})
afterAll(() => lab.remove())
beforeEach(() => {
  for (const path of [lab.guardHome, join(lab.root, '.harness')])
    rmSync(path, { recursive: true, force: true })
})

const call = (event: string) => ({
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: `t-${event}`,
  ...(event === 'PostToolUse' && { tool_response: { stdout: '', stderr: '', interrupted: false } }),
})

/** Sends every event of `events` in turn from a shell that first ran `prepare`, in its own mount namespace. */
function inNamespace(
  prepare: string,
  events: readonly string[],
  as = '',
): { event: string; code: number; text: string }[] {
  const hooks = events.map((event, index) => {
    const more = event === 'Stop' ? { stop_hook_active: false } : call(event)
    const input = join(lab.top, `${index}.json`)
    writeFileSync(input, lab.payload(event, event === 'SessionStart' ? { source: 'startup' } : more))
    const hook = `${as} ${process.execPath} ${lab.hookBin} --agent claude-code ${event} < ${input}`
    return `printf '@@%s ' ${event}; ${hook} 2>&1; echo "@@$?"`
  })
  const script = [prepare, ...hooks].join('\n')
  const { stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', script], {
    encoding: 'utf8',
    env: lab.env,
  })
  const found = [...stdout.matchAll(/@@(\w+) ([\s\S]*?)@@(\d+)\n/g)].map(
    ([, event = '', text = '', code]) => ({
      event,
      text,
      code: Number(code),
    }),
  )
  if (found.length !== events.length) throw new Error(`${stdout}\n${stderr}`)
  return found
}

const all = ['SessionStart', 'PreToolUse', 'PostToolUse', 'Stop']

describe.skipIf(!canMount())('a disk without room', () => {
  const fill = (directory: string) =>
    `head -c 100M /dev/zero > ${directory}/fill 2>/dev/null; test "$(df --output=avail ${directory} | tail -1)" = 0 || echo not full`

  test('for the guard’s home blocks if possible, with a reason', () => {
    mkdirSync(lab.guardHome, { mode: 0o700 })
    const mount = `mount -t tmpfs -o size=64k,mode=700 tmpfs ${lab.guardHome}\n${fill(lab.guardHome)}`
    const [start, before, after, stop] = inNamespace(mount, all)
    for (const answer of [start, before, after, stop])
      expect(answer?.text, answer?.event).toContain('no space left')
    expect([before?.code, stop?.code]).toEqual([2, 2])
  })

  test('that fills up later blocks from the first call whose line does not fit', () => {
    mkdirSync(lab.guardHome, { mode: 0o700 })
    const mount = `mount -t tmpfs -o size=4m,mode=700 tmpfs ${lab.guardHome}`
    const begun = hookOnce('SessionStart', { source: 'startup' })
    const answers = inNamespace(
      `${mount}\n${begun}\n${fill(lab.guardHome)}`,
      Array.from({ length: 6 }, () => 'PreToolUse'),
    )
    const codes = answers.map(({ code }) => code)
    expect(codes).toEqual(codes.toSorted())
    expect(answers.at(-1)).toMatchObject({ code: 2, text: expect.stringContaining('no space left') })
  })

  test('for the project does not block the agent: only the views are outdated, with a notice', () => {
    const views = join(lab.root, '.harness')
    mkdirSync(views)
    const mount = `mount -t tmpfs -o size=64k tmpfs ${views}\n${fill(views)}`
    const [start, before, after] = inNamespace(mount, all.slice(0, 3))
    expect(start?.text).toMatch(/views of the guard are not up to date: .*no space left/)
    expect([start?.code, before?.code, after?.code]).toEqual([0, 0, 0])
  })
})

function hookOnce(event: string, more: object): string {
  const input = join(lab.top, 'once.json')
  writeFileSync(input, lab.payload(event, more))
  return `${process.execPath} ${lab.hookBin} --agent claude-code ${event} < ${input} >/dev/null 2>&1`
}

const canBeNobody = process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status === 0

describe.skipIf(!canBeNobody || !canMount())('a guard’s home another user owns', () => {
  const nobody = asNobody()
    .map((word) => `'${word}'`)
    .join(' ')

  test.each([
    ['closed', 0o700],
    ['open for reading', 0o755],
  ])('and that is %s blocks if possible, with a reason', (_name, mode) => {
    mkdirSync(lab.guardHome)
    writeFileSync(join(lab.guardHome, 'key'), Buffer.alloc(32, 7), { mode: mode === 0o755 ? 0o644 : 0o600 })
    chmodSync(lab.guardHome, mode)
    chmodSync(lab.top, 0o755)
    const [start, before, after, stop] = inNamespace(':', all, nobody)
    for (const answer of [start, before, after, stop])
      expect(answer?.text, answer?.event).toMatch(/the guard itself failed[\s\S]*permission denied/)
    expect([before?.code, stop?.code]).toEqual([2, 2])
    expect(readdirSync(lab.guardHome)).toEqual(['key'])
  })

  test('and a project that this user cannot write can still be read', () => {
    const home = join(lab.top, 'nobody')
    const owned = `mkdir -p ${home} && chown 65534:65534 ${home}; export GANTRY_GUARD_HOME=${home}/guard`
    chmodSync(lab.top, 0o755)
    const answers = inNamespace(owned, all.slice(0, 3), nobody)
    expect(answers.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(answers[0]?.text).toMatch(/views of the guard are not up to date: .*permission denied/)
  })
})

describe('a helper', () => {
  const withHelper = { GANTRY_GUARD_RESIDENT: 'on', GANTRY_GUARD_IDLE_MS: '60000' }

  async function until(what: string, holds: () => boolean): Promise<void> {
    for (let tries = 0; !holds(); tries += 1) {
      if (tries > 20_000) throw new Error(`waited in vain until ${what}`)
      await wait(25)
    }
  }

  test('whose guard’s home is too long for a socket path uses a private one elsewhere, and answers', async () => {
    const guardHome = join(lab.top, 'g'.repeat(90), 'h'.repeat(90))
    const run = `/tmp/gantry-guard-${process.getuid?.()}`
    const before = new Set(existsSync(run) ? readdirSync(run) : [])
    const env = { ...withHelper, GANTRY_GUARD_HOME: guardHome }
    const payload = lab.payload('SessionStart', { source: 'startup' })
    expect((await lab.launch('claude-code', ['SessionStart'], payload, env).result).code).toBe(0)
    const made = () =>
      existsSync(run) ? readdirSync(run).filter((name) => name.endsWith('.sock') && !before.has(name)) : []
    await until('it listens', () => made().length > 0)
    const [name = ''] = made()
    const helper = lockHolder(join(run, `${name}.lock`))
    try {
      const denied = lab.payload('PreToolUse', {
        ...call('PreToolUse'),
        tool_input: { command: 'echo x > .env' },
      })
      const { code, stderr } = await lab.launch('claude-code', ['PreToolUse'], denied, env).result
      expect(code).toBe(2)
      expect(stderr).toContain('.env')
      expect(readdirSync(join(guardHome, 'run')).filter((file) => file.endsWith('.sock'))).toEqual([])
    } finally {
      if (helper !== null) process.kill(helper.pid, 'SIGKILL')
      await until('it is gone', () => helper === null || !isAlive(helper.pid))
      for (const file of [name, `${name}.lock`]) rmSync(join(run, file), { force: true })
    }
  })

  test('that was killed leaves a socket that the next one removes, without touching those of running helpers', async () => {
    const run = join(lab.guardHome, 'run')
    const sockets = () => (existsSync(run) ? readdirSync(run).filter((name) => name.endsWith('.sock')) : [])
    const holder = (name: string) => lockHolder(join(run, `${name}.lock`))?.pid ?? null
    const living: number[] = []
    /** Another language needs another helper. */
    const start = async (lang: string): Promise<readonly [string, number]> => {
      const before = new Set(sockets())
      const payload = lab.payload('SessionStart', { source: 'startup' })
      await lab.launch('claude-code', ['SessionStart'], payload, { ...withHelper, LANG: lang }).result
      const fresh = () => sockets().find((name) => !before.has(name) && holder(name) !== null)
      await until('another listens', () => fresh() !== undefined)
      const name = fresh() ?? ''
      const pid = holder(name) ?? 0
      living.push(pid)
      return [name, pid]
    }
    try {
      const [dead, pid] = await start('C')
      const [alive] = await start('C.UTF-8')
      process.kill(pid, 'SIGKILL')
      await until('it is gone', () => !isAlive(pid))
      writeFileSync(join(run, 'notes.txt'), 'mine')
      const [newest] = await start('POSIX')
      await until('it is tidy', () => !sockets().includes(dead))
      expect(sockets().toSorted()).toEqual([alive, newest].toSorted())
      await until('its lock is gone', () => !existsSync(join(run, `${dead}.lock`)))
      expect(existsSync(join(run, 'notes.txt'))).toBe(true)
    } finally {
      for (const pid of living) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
      await until('all are gone', () => living.every((pid) => !isAlive(pid)))
    }
  })
})
