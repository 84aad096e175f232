import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { HookEvent, HookEventDetail, ToolCall } from '../core/hook-event.ts'
import { unseenChanges } from '../guard/unlock/unlock.ts'
import { ledgerPlace } from '../guard-engine/ledger/ledger-place.ts'
import { appendNote } from '../guard-engine/ledger/open-ledger.ts'
import { openGuard } from '../guard-engine/open-guard.ts'
import {
  openBypassLab,
  processesWith,
  readBypasses,
} from '../guard-engine/protection/bypasses.conformance.ts'
import { probeKernel } from '../guard-engine/protection/kernel-layer.ts'
import { rules } from './index.ts'

/** The engine over a real project. The calls are judged by the rules that look at the files afterwards only. */
async function project(protection: object = {}, files: Readonly<Record<string, string>> = {}) {
  const fixture = await createFixture({
    'app/.env': 'A=1\n',
    'app/README.md': 'read me\n',
    'app/config/credentials.json': '{}\n',
    'home/keep.txt': '',
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`app/${path}`, text])),
    'app/harness.json': JSON.stringify({
      version: '1.0.0',
      middleware: { file_protection: protection, pre_completion_checklist: { enabled: false } },
    }),
  })
  const top = realpathSync(fixture.path)
  const root = join(top, 'app')
  const guardHome = join(top, 'guard')
  const after = rules.filter(({ name }) => name === 'notice-changes')
  const guard = openGuard({ guardHome, env: { HOME: join(top, 'home') }, rules: after })
  const send = (happening: HookEventDetail, more: Partial<HookEvent> = {}, how: { nowMs?: number } = {}) =>
    guard.handle(
      {
        agent: 'codex',
        session: 's1',
        agentId: null,
        agentType: null,
        promptId: null,
        cwd: root,
        root,
        ...more,
        ...happening,
      } as HookEvent,
      how,
    )
  let count = 0
  const shell = (command: string): ToolCall => {
    count += 1
    const action = { kind: 'shell', command, background: false, language: 'bash' } as const
    return { id: `t${count}`, tool: 'Bash', action, input: { command } }
  }
  const before = (call: ToolCall) => send({ kind: 'tool_before', call })
  const ended = (call: ToolCall) => {
    const outcome = {
      kind: 'success',
      exitCode: 0,
      output: '',
      interrupted: false,
      timedOut: false,
      background: false,
    } as const
    return send({ kind: 'tool_after', call, outcome })
  }
  const bash = (command: string): void => {
    execFileSync('bash', ['-c', command], { cwd: root, stdio: 'ignore' })
  }
  return {
    [Symbol.asyncDispose]: () => fixture.rm(),
    root,
    guardHome,
    path: (name: string) => join(root, name),
    read: (name: string) => readFileSync(join(root, name), 'utf8'),
    write: (name: string, text: string) => writeFileSync(join(root, name), text),
    start: () => send({ kind: 'session_start', source: 'startup' }),
    prompt: () => send({ kind: 'prompt', text: 'go on', synthetic: false }),
    stop: (background = false) => send({ kind: 'stop', again: false, lastMessage: null, background }),
    end: () => send({ kind: 'session_end', reason: null }),
    send,
    shell,
    before,
    ended,
    bash,
    run: async (command: string) => {
      const call = shell(command)
      await before(call)
      bash(command)
      return ended(call)
    },
    seen: () =>
      appendNote({ guardHome, root, note: { kind: 'changes_seen', by: 'dev' }, nowMs: Date.now() + 1_000 }),
  }
}

test('a changed, a new and a removed protected file are named with the call, and the stop is refused until a person has seen it', async () => {
  await using here = await project()
  await here.start()
  const changed = await here.run('sed -i s/1/2/ .env')
  expect(changed.context).toContain(`${here.path('.env')}: changed`)
  expect(changed.context).toContain('while `sed -i s/1/2/ .env` ran')
  expect((await here.run('echo k > server.key')).notice).toContain(`${here.path('server.key')}: created`)
  expect((await here.run('rm -r config')).context).toContain('config/credentials.json: removed')
  expect((await here.stop(true)).verdict, 'with work in the background').toBe('refuse')
  const refused = await here.stop()
  expect(refused.verdict).toBe('refuse')
  expect(refused.reason).toContain('server.key')
  expect(refused.reason).toContain('gantry guard seen')
  here.seen()
  expect((await here.stop()).verdict).toBe('pass')
  expect(here.read('.env')).toBe('A=2\n')
})

test('refusals are limited in one prompt, and the user sees what is open', async () => {
  await using here = await project()
  await here.start()
  await here.run('echo B=1 >> .env')
  const verdicts: string[] = []
  for (let tries = 0; tries < 12; tries += 1) verdicts.push((await here.stop()).verdict)
  expect(verdicts[0]).toBe('refuse')
  expect(verdicts.at(-1)).toBe('pass')
  expect((await here.stop()).notice).toContain('.env')
  await here.prompt()
  expect((await here.stop()).verdict).toBe('refuse')
})

test('a change between two calls is reported to the user, is not blamed on the agent, and blocks nothing', async () => {
  await using here = await project({ restore: 'always' })
  await here.start()
  await here.run('true')
  here.write('.env', 'MINE=1\n')
  expect(await here.run('ls')).toMatchObject({ context: null, notice: null })
  const stopped = await here.stop()
  expect(stopped.verdict).toBe('pass')
  expect(stopped.notice).toContain('between two calls, so not by a call of the agent')
  expect(here.read('.env')).toBe('MINE=1\n')
  expect((await here.stop()).notice).toBeNull()
})

test('a change by a process that a call left running is named with that call', async () => {
  await using here = await project()
  await here.start()
  const call = here.shell('nohup sh late.sh &')
  await here.before(call)
  await here.ended(call)
  here.bash('echo late > .env')
  const refused = await here.stop()
  expect(refused.verdict).toBe('refuse')
  expect(refused.reason).toContain('after `nohup sh late.sh &`')
  expect((await here.stop()).verdict).toBe('pass')
  await here.prompt()
  here.bash('echo later > .env')
  const later = await here.stop()
  expect(later.verdict).toBe('pass')
  expect(later.notice).toContain(
    '`nohup sh late.sh &`, started for an earlier prompt, may have left a process',
  )
})

test('a change while two calls run is not taken for a change between calls', async () => {
  await using here = await project()
  await here.start()
  const [one, other] = [here.shell('make a'), here.shell('make b')]
  await here.before(one)
  here.bash('echo x > .env')
  await here.before(other)
  expect((await here.stop()).reason).toContain('while `make a` ran')
})

test('files are put back with mode and link, new ones are put aside, and the changed version is kept', async () => {
  await using here = await project({ restore: 'always' }, { 'keys/real': 'key\n' })
  symlinkSync('keys/real', here.path('id_rsa'))
  here.bash('chmod 640 .env')
  await here.start()
  const { context } = await here.run(
    'echo bad > .env; chmod 777 .env; rm id_rsa; echo x > id_rsa; rm -r config; mkdir sub; echo n > sub/.env.local',
  )
  expect(here.read('.env')).toBe('A=1\n')
  expect(statSync(here.path('.env')).mode & 0o777).toBe(0o640)
  expect(here.read('id_rsa')).toBe('key\n')
  expect(here.read('config/credentials.json')).toBe('{}\n')
  expect(existsSync(here.path('sub/.env.local'))).toBe(false)
  expect(context).toContain('They were put back.')
  const aside = /the changed version is (\S+)\.$/m.exec(context ?? '')?.[1] ?? ''
  expect(readFileSync(aside, 'utf8')).toMatch(/^(?:bad|x|n)\n$/)
  expect(await here.run('true')).toMatchObject({ context: null })
})

test.each([
  ['chmod 600 .env', 0o644, 0o600],
  ['chmod 600 .env', 0o777, 0o600],
  ['chmod go-rwx .env', 0o755, 0o700],
])('%s, which takes rights from others only, is neither a change nor put back', async (command, was, is) => {
  await using here = await project({ restore: 'always' })
  here.bash(`chmod ${was.toString(8)} .env`)
  await here.start()
  expect(await here.run(command)).toMatchObject({ context: null, notice: null })
  expect(statSync(here.path('.env')).mode & 0o777).toBe(is)
  expect(await here.stop()).toMatchObject({ verdict: 'pass', notice: null })
  expect((await here.run('echo A=2 > .env')).context).toContain('They were put back.')
  expect(statSync(here.path('.env')).mode & 0o777).toBe(is)
})

test.each(['chmod 400 .env', 'chmod u-x .env', 'chmod o+x .env', 'chmod g+w,o-r .env', 'chmod 000 .env'])(
  '%s is a change of a protected file',
  async (command) => {
    await using here = await project()
    here.bash('chmod 744 .env')
    await here.start()
    expect((await here.run(command)).context).toContain(`${here.path('.env')}: changed`)
    expect((await here.stop()).verdict).toBe('refuse')
  },
)

test('a directory that became a link is put back as a directory', async () => {
  await using here = await project({ restore: 'always' })
  await here.start()
  await here.run('mv config old && mkdir other && ln -s other config')
  expect(lstatSync(here.path('config')).isDirectory()).toBe(true)
  expect(here.read('config/credentials.json')).toBe('{}\n')
  expect(readdirSync(here.path('other'))).toEqual([])
})

test('the content of what a link leads to is put back', async () => {
  await using here = await project({ restore: 'always' }, { 'keys/real': 'key\n' })
  symlinkSync('keys/real', here.path('id_rsa'))
  await here.start()
  await here.run('echo other > keys/real')
  expect(here.read('keys/real')).toBe('key\n')
})

test('copies are private, not larger than 1 MB, and gone when the session ends without a change', async () => {
  await using here = await project()
  here.write('large.key', 'x'.repeat(1024 * 1024 + 1))
  await here.start()
  const directory = join(ledgerPlace(here.guardHome, here.root, 's1').directory, 'protected')
  const [session = ''] = readdirSync(directory)
  const copies = join(directory, session, 'copies')
  const names = readdirSync(copies)
  expect(names).toHaveLength(2)
  for (const name of names) expect(statSync(join(copies, name)).mode & 0o777).toBe(0o600)
  expect(statSync(copies).mode & 0o777).toBe(0o700)
  expect((await here.run('echo more >> large.key')).context).toContain('large.key: changed')
  here.seen()
  await here.prompt()
  await here.end()
  expect(existsSync(copies)).toBe(false)
})

test('the end of a session removes once a day what other sessions left behind, and nothing that is still used', async () => {
  await using here = await project()
  await here.start()
  const { directory } = ledgerPlace(here.guardHome, here.root, 's1')
  const other = join(here.guardHome, 'projects', 'elsewhere-0123')
  const at = (days: number): Date => new Date(Date.now() - days * 24 * 3_600_000)
  const leave = (path: string, days: number): string => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '')
    utimesSync(path, at(days), at(days))
    for (const up of [dirname(path), dirname(dirname(path))]) utimesSync(up, at(days), at(days))
    return path
  }
  const gone = [
    leave(join(here.guardHome, 'kernel', 'old.bwrap'), 31),
    leave(join(other, 'sessions', 'old.jsonl'), 91),
    leave(join(other, 'checkpoints', 'old.json'), 31),
    leave(join(other, 'trees', 'abc'), 31),
    leave(join(other, 'protected', 'killed', 'copies', 'abc'), 8),
  ]
  const kept = [
    leave(join(here.guardHome, 'kernel', 'live.bwrap'), 29),
    leave(join(other, 'sessions', 'recent.jsonl'), 89),
    leave(join(here.guardHome, 'projects', 'alone-0123', 'sessions', 'newest.jsonl'), 200),
    leave(join(other, 'project.jsonl'), 400),
    leave(join(other, 'protected', 'idle', 'copies', 'abc'), 8),
    leave(join(other, 'sessions', 'idle.jsonl'), 2),
    leave(join(other, 'protected', 'killed', 'index.json'), 8),
    join(directory, 'sessions'),
  ]
  await here.end()
  expect(gone.filter((path) => existsSync(path))).toEqual([])
  expect(kept.filter((path) => !existsSync(path))).toEqual([])
  const again = leave(join(here.guardHome, 'kernel', 'more.bwrap'), 31)
  await here.start()
  await here.end()
  expect(existsSync(again), 'only once a day').toBe(true)
})

test('generated directories are not entered, and a touched file is not changed', async () => {
  await using here = await project({}, { 'node_modules/a/.env': 'x' })
  await here.start()
  expect(
    await here.run('echo y > node_modules/a/.env; touch .env; mkdir -p build; cd build; echo k > a.key'),
  ).toMatchObject({
    context: null,
  })
})

test('in a directory of outputs the protected files that git tracks or a call names are watched', async () => {
  await using here = await project({}, { 'build/.env': 'B=1\n', 'vendor/a/b.key': 'k' })
  here.bash('git init -q . && git add -f build')
  await here.start()
  const changed = await here.run("python3 -c \"open('buil'+'d/.env', 'w')\"; echo x > vendor/a/b.key")
  expect(changed.context).toContain(`${here.path('build/.env')}: changed`)
  expect(changed.context).toContain(`${here.path('vendor/a/b.key')}: changed`)
  const made = await here.run('mkdir out; cp README.md out/server.key')
  expect(made.context).toContain(`${here.path('out/server.key')}: created`)
  expect((await here.run('cat vendor/a/b.key build/.env out/none.key || true')).context).toBeNull()
})

test.each(['harness.json', 'gantry.yaml'])(
  'a new %s loosens nothing, and is named or put aside',
  async (name) => {
    for (const restore of ['never', 'always'] as const) {
      await using here = await project({ restore }, { 'gantry.yaml': 'scenarios: []\n' })
      here.bash('mkdir harness && mv harness.json harness/harness.json')
      await here.start()
      await here.run('true')
      const off = '{ "middleware": { "file_protection": { "enabled": false } } }'
      here.write('off', name === 'harness.json' ? off : `guard: ${off}\n`)
      const made = await here.run(`cp off ${name}`)
      expect(made.context).toContain(`${here.path(name)}: ${name === 'harness.json' ? 'created' : 'changed'}`)
      expect(made.context).toContain('(it controls the guard)')
      expect(existsSync(here.path(name)) && here.read(name).includes('false')).toBe(restore === 'never')
      const sealed = await here.run('echo E > .env')
      expect(sealed.context, 'still on').toContain('.env: changed')
      await here.send({ kind: 'session_start', source: 'startup' }, { session: 's2' })
      const call = here.shell('true')
      await here.send({ kind: 'tool_before', call }, { session: 's2' })
      here.write('server.key', 'k')
      const outcome = {
        kind: 'success',
        exitCode: 0,
        output: '',
        interrupted: false,
        timedOut: false,
      } as const
      const next = await here.send(
        { kind: 'tool_after', call, outcome: { ...outcome, background: false } },
        { session: 's2' },
      )
      expect(next.context, 'the next session too').toContain('server.key: created')
    }
  },
)

test('settings of an agent that say nothing about hooks do not control the guard', async () => {
  await using here = await project({}, { '.claude/settings.json': '{ "theme": "light" }' })
  await here.start()
  await here.run('true')
  expect((await here.run(`echo '{ "theme": "dark" }' > .claude/settings.json`)).context).toBeNull()
  const off = await here.run(`echo '{ "disableAllHooks": true }' > .claude/settings.json`)
  expect(off.context).toContain('.claude/settings.json: changed')
})

test('files that control the guard are not new when the seal first names them', async () => {
  await using here = await project({}, { '.claude/settings.json': '{ "hooks": {} }' })
  await here.start()
  expect((await here.ended(here.shell('true'))).context).toBeNull()
})

test('the record of the files cannot be removed silently', async () => {
  await using here = await project()
  await here.start()
  expect((await here.run(`find ${here.guardHome} -name index.json -delete`)).context).toContain(
    'index.json: removed',
  )
})

test('however many changes follow, one that a call made still refuses the stop', async () => {
  await using here = await project()
  await here.start()
  await here.run('echo A=2 > .env')
  for (let n = 0; n < 80; n += 1) here.write(`.env.${n}`, '')
  await here.run('true &')
  for (let n = 0; n < 80; n += 1) here.write(`.env.${n}`, 'x')
  const { verdict, reason } = await here.stop()
  expect(verdict).toBe('refuse')
  expect(reason).toContain('`echo A=2 > .env` ran')
})

test('a key that is removed does not hide what was noticed', async () => {
  await using here = await project()
  await here.start()
  await here.run('echo A=2 > .env')
  await here.run(`rm '${join(here.guardHome, 'key')}'`)
  const { verdict, reason } = await here.stop()
  expect(verdict).toBe('refuse')
  expect(reason).toContain("the guard's record of the protected files")
})

test('a session that was killed and is resumed compares with its last look, and undoes nothing', async () => {
  await using here = await project({ restore: 'always' })
  await here.start()
  await here.before(here.shell('sleep 100'))
  here.write('.env', 'A=3\n')
  await here.send({ kind: 'session_start', source: 'resume' })
  expect(here.read('.env')).toBe('A=3\n')
  expect((await here.stop()).notice).toContain('between two calls')
})

test.each(['startup', 'clear', 'resume'] as const)(
  'a change that a call made survives into the next session by %s until a person has seen it, and a change by a person between sessions does not',
  async (source) => {
    await using here = await project()
    await here.start()
    await here.run('sed -i s/1/2/ .env')
    await here.end()
    here.write('config/credentials.json', '{"mine":1}')
    const next = { session: source === 'resume' ? 's1' : 's2' }
    const stop = { kind: 'stop', again: false, lastMessage: null, background: false } as const
    const started = await here.send({ kind: 'session_start', source }, next)
    for (const text of [started.notice, started.context]) {
      expect(text).toContain(`${here.path('.env')}: changed`)
      expect(text).toContain('while `sed -i s/1/2/ .env` ran')
      expect(text).not.toContain('credentials.json')
    }
    expect(started.context?.split('.env: ').length, 'named once').toBe(2)
    const refused = await here.send(stop, next)
    expect(refused).toMatchObject({ verdict: 'refuse' })
    expect(refused.reason).toContain('gantry guard seen')
    expect(unseenChanges(here.guardHome, here.root).filter(({ by }) => by !== null)).toHaveLength(1)
    here.seen()
    expect(await here.send(stop, next)).toMatchObject({ verdict: 'pass' })
    const later = await here.send({ kind: 'session_start', source: 'startup' }, { session: 's3' })
    expect(later).toMatchObject({ notice: null, context: null })
  },
)

test('the next session names what a call changed during which the session was killed, once, and undoes nothing', async () => {
  await using here = await project({ restore: 'always' })
  await here.start()
  await here.before(here.shell('sh setup.sh'))
  here.write('.env', 'A=3\n')
  const start = (session: string) => here.send({ kind: 'session_start', source: 'startup' }, { session })
  const started = await start('s2')
  for (const text of [started.notice, started.context]) {
    expect(text).toContain(`${here.path('.env')}: changed`)
    expect(text).toContain('while `sh setup.sh` ran')
  }
  expect(here.read('.env')).toBe('A=3\n')
  const stop = { kind: 'stop', again: false, lastMessage: null, background: false } as const
  expect(await here.send(stop, { session: 's2' })).toMatchObject({ verdict: 'refuse' })
  here.seen()
  expect(await start('s3')).toMatchObject({ notice: null, context: null })
})

test('a change long after a call during which the session was killed is not its own', async () => {
  await using here = await project()
  const nowMs = Date.now() - 11 * 60_000
  await here.send({ kind: 'session_start', source: 'startup' }, {}, { nowMs })
  await here.send({ kind: 'tool_before', call: here.shell('sh setup.sh') }, {}, { nowMs: nowMs + 1000 })
  here.write('.env', 'A=3\n')
  const next = { session: 's2' }
  expect(await here.send({ kind: 'session_start', source: 'startup' }, next)).toMatchObject({ notice: null })
})

test('a change by a person after a session that was killed between two calls is not reported', async () => {
  await using here = await project()
  await here.start()
  await here.run('true')
  here.write('.env', 'A=3\n')
  const next = { session: 's2' }
  expect(await here.send({ kind: 'session_start', source: 'startup' }, next)).toMatchObject({ notice: null })
})

test('a change by a call that was interrupted is still found when the session ends', async () => {
  await using here = await project()
  await here.start()
  await here.prompt()
  await here.before(here.shell('make env'))
  here.write('.env', 'A=2\n')
  await here.end()
  const started = await here.send({ kind: 'session_start', source: 'clear' }, { session: 's2' })
  expect(started.notice).toContain('while `make env` ran')
})

test('a session that runs beside the one with the change is not stopped by it', async () => {
  await using here = await project()
  await here.start()
  await here.send({ kind: 'session_start', source: 'startup' }, { session: 's2' })
  await here.run('sed -i s/1/2/ .env')
  const stop = { kind: 'stop', again: false, lastMessage: null, background: false } as const
  expect(await here.send(stop, { session: 's2' })).toMatchObject({ verdict: 'pass' })
})

test('read alone looks at nothing afterwards', async () => {
  await using here = await project({ enforcement: 'read' })
  await here.start()
  expect(await here.run('echo x > .env')).toMatchObject({ context: null, notice: null })
  expect(existsSync(join(ledgerPlace(here.guardHome, here.root, 's1').directory, 'protected'))).toBe(false)
})

test('a project with more directories than are watched says so at the start', async () => {
  await using here = await project()
  for (let index = 0; index < 2_100; index += 1) mkdirSync(here.path(`d${index}`))
  expect((await here.start()).notice).toContain('more than 2,000 directories')
  expect((await here.run('echo x > .env')).context).toContain('.env: changed')
})

test('a part of the bypasses is tried without the guard, with notice and with kernel; the long suite tries all', async () => {
  using lab = openBypassLab()
  const kernel = await probeKernel()
  for (const bypass of readBypasses().filter((_, index) => index % 40 === 7)) {
    const { lacks, name, unguarded, unreported, notHeld, notPrevented } = await lab.play(bypass)
    if (lacks !== null) continue
    expect(unguarded, name).not.toEqual([])
    expect(unreported, name).toEqual([])
    if (kernel.kind === 'works')
      expect({ notHeld, notPrevented }, name).toEqual({ notHeld: [], notPrevented: [] })
  }
})

test('a bypass that waits until it can write leaves no process behind', async () => {
  using lab = openBypassLab()
  const command = 'setsid sh -c "until echo x >> .env; do sleep 1; done; sleep 100" &'
  await lab.play({ class: 'process', name: 'waits', command })
  expect(processesWith(lab.base)).toEqual([])
})
