import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  type LabOptions,
  plentiful,
  processesWith,
  runIn,
  sandboxLab,
} from '../../test/support/sandbox-lab.ts'
import { randomSuffix } from '../io/ids.ts'
import { treeHash } from '../io/tree-hash.ts'
import type { SandboxEngine, SandboxRequest } from './contract.ts'

export interface ConformanceOptions extends LabOptions {
  /** The module that a separate process imports to be killed in the middle. */
  readonly from: { readonly module: string; readonly name: string }
  /** Names of everything that a sandbox with this run id has left on the machine: containers, cgroups, directories. */
  readonly leftovers: (runId: string, env: Readonly<Record<string, string>>) => Promise<readonly string[]>
}

const exited = (exitCode: number) => ({ kind: 'exited', exitCode })

/** Tests every guarantee of the contract on an engine with real processes. */
export function conformance(
  name: string,
  makeEngine: () => SandboxEngine,
  options: ConformanceOptions,
): void {
  const engine = makeEngine()
  /** A process that opens a sandbox and runs a step that does not end, or leaves its only step waiting. */
  const startOwner = async ({ signal: _, ...request }: SandboxRequest, token: string) => {
    const { module, name } = options.from
    const args = ['--input-type=module', '-e', ownerProgram, module, name, JSON.stringify(request), token]
    const owner = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(owner.stdout, 'data')
    return owner
  }
  const lab = (directory?: string) => sandboxLab(engine, options, directory)

  describe(`the sandbox engine ${name}`, () => {
    test('reports that it can be used and its version, and leaves nothing behind', async () => {
      await using it = lab()
      const probe = await engine.probe({ env: it.env })
      expect(probe).toMatchObject({ engine: engine.name, usable: true })
      expect(probe.detail).toMatch(/^\d/)
      expect(await engine.sweep({ env: it.env })).toEqual([])
    })

    test('mounts the repository at /workspace, where a step starts, as read-only', async () => {
      await using it = lab()
      const before = await treeHash(it.repository)
      const sandbox = await it.open()
      expect(await runIn(sandbox, 'pwd; cat sentinel.txt private.txt deep/er/file')).toEqual({
        end: exited(0),
        output: '/workspace\nuntouched\nfor the owner\ndeep\n',
      })
      const { end, output } = await runIn(sandbox, 'echo x > sentinel.txt')
      expect(end).toMatchObject({ kind: 'exited' })
      expect(end).not.toEqual(exited(0))
      expect(output).toMatch(/read-only/i)
      expect(await treeHash(it.repository)).toEqual(before)
    })

    test('overlay: everything can be changed, later steps see it, the host and the next run do not', async () => {
      await using it = lab()
      const before = await treeHash(it.repository)
      const sandbox = await it.open({ workspace: 'overlay' })
      const change =
        'echo more >> sentinel.txt && echo more >> private.txt && rm -r deep && mkdir new && echo n > new/f && mv new moved && chmod 755 sentinel.txt && ln -s moved/f link'
      expect(await runIn(sandbox, change)).toEqual({ end: exited(0), output: '' })
      const look = await runIn(
        sandbox,
        'cat sentinel.txt private.txt link; ls deep 2>/dev/null; test -x sentinel.txt',
      )
      expect(look).toEqual({ end: exited(0), output: 'untouched\nmore\nfor the owner\nmore\nn\n' })
      expect(await sandbox.close()).toEqual([])
      expect(await treeHash(it.repository)).toEqual(before)
      expect(statSync(join(it.repository, 'sentinel.txt')).mode & 0o111).toBe(0)
      const next = await it.open({ workspace: 'overlay' })
      expect((await runIn(next, 'cat sentinel.txt; test -d deep')).output).toBe('untouched\n')
    })

    test('a repository with special characters in its path is mounted', async () => {
      await using it = lab('a, b:c\\d "e" \'f\' =g ü $HOME,ro')
      for (const workspace of ['readonly', 'overlay'] as const) {
        const sandbox = await it.open({ workspace })
        expect((await runIn(sandbox, 'cat sentinel.txt')).output).toBe('untouched\n')
      }
    })

    test('the only step starts when it is asked for, not when its sandbox is opened', async () => {
      await using it = lab()
      const onlyStep = { command: 'cat /artifacts/given; echo "$A"', env: { A: 'b' }, timeoutMs: 60_000 }
      const sandbox = await it.open({ onlyStep })
      // Time for a command that would not wait.
      await sleep(500)
      writeFileSync(join(it.artifacts, 'given'), 'late\n')
      expect(await runIn(sandbox, onlyStep.command, onlyStep)).toEqual({
        end: exited(0),
        output: 'late\nb\n',
      })
      expect(await sandbox.close()).toEqual([])
      const unused = await it.open({ onlyStep: { ...onlyStep, command: 'touch /artifacts/ran' } })
      expect(await unused.close()).toEqual([])
      expect(existsSync(join(it.artifacts, 'ran'))).toBe(false)
    })

    test('the time limit of the only step counts from its start, and ends it', async () => {
      await using it = lab()
      let output = ''
      // On a busy machine it may not have begun in so short a time.
      for (let timeoutMs = 1_000; output === ''; timeoutMs *= 4) {
        const onlyStep = { command: 'echo on; sleep 86387.4', env: {}, timeoutMs }
        const sandbox = await it.open({ onlyStep })
        await sleep(timeoutMs + 200)
        const ran = await runIn(sandbox, onlyStep.command, onlyStep)
        expect(ran.end).toEqual({ kind: 'timed_out' })
        output = ran.output
        await sandbox.close()
      }
      expect(output).toBe('on\n')
      expect(processesWith('86387.4')).toEqual([])
    })

    test('/artifacts is the run directory; the caller can read and remove its files', async () => {
      await using it = lab()
      writeFileSync(join(it.artifacts, 'given'), 'before\n', { mode: 0o600 })
      const sandbox = await it.open()
      const { output } = await runIn(
        sandbox,
        'cat /artifacts/given; echo after >> /artifacts/given; mkdir -p /artifacts/a/b && echo made > /artifacts/a/b/c; umask 077; echo p > /artifacts/private',
      )
      expect(output).toBe('before\n')
      expect(readFileSync(join(it.artifacts, 'given'), 'utf8')).toBe('before\nafter\n')
      expect(readFileSync(join(it.artifacts, 'a/b/c'), 'utf8')).toBe('made\n')
      expect(readFileSync(join(it.artifacts, 'private'), 'utf8')).toBe('p\n')
      for (const file of readdirSync(it.artifacts)) rmSync(join(it.artifacts, file), { recursive: true })
      expect(existsSync(join(it.artifacts, 'a'))).toBe(false)
    })

    test('nothing else is writable, and /tmp is removed with the run', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const { output } = await runIn(
        sandbox,
        'for d in / /etc /usr /usr/bin /bin /lib /proc /sys /dev /root /home /var /run /opt; do (echo x > $d/gantry-x) 2>/dev/null && echo "wrote to $d"; done; echo x > /tmp/left; cat /tmp/left',
      )
      expect(output).toBe('x\n')
      const next = await it.open()
      expect((await runIn(next, 'ls -A /tmp')).output).not.toContain('left')
    })

    test('a step is not root, has no capability, and cannot gain any', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const { output } = await runIn(
        sandbox,
        'id -u; id -g; grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status | tr -d "\\t "',
      )
      const [uid, gid, ...status] = output.trim().split('\n')
      expect(`${uid}:${gid}`).toBe(sandbox.report.user)
      expect(Number(uid)).toBeGreaterThan(0)
      expect(status).toEqual([
        ...['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((set) => `${set}:0000000000000000`),
        'NoNewPrivs:1',
        'Seccomp:2',
      ])
    })

    test('the processes of a step are not root on the host either', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const token = `31${Date.now()}`
      const running = runIn(sandbox, `exec sleep ${token}`, { timeoutMs: 600_000 })
      let uids: readonly string[] = []
      while (uids.length === 0) {
        await sleep(20)
        uids = processesWith(`sleep\0${token}`).map(
          (pid) => /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '',
        )
      }
      await sandbox.close()
      expect(uids).not.toContain('0')
      expect((await running).end).toEqual({ kind: 'cancelled' })
    })

    test('a step sees its own variables, PATH and HOME, and nothing of the caller', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const { output } = await runIn(sandbox, 'env', { env: { GIVEN: 'a b\n$c', TMPDIR: '/artifacts/tmp' } })
      expect(output).toContain('GIVEN=a b\n$c\n')
      expect(output).toContain('TMPDIR=/artifacts/tmp\n')
      expect(output).toMatch(/^PATH=\//m)
      expect(output).toMatch(/^HOME=\//m)
      expect(output).not.toContain('hidden-on-the-host')
      const stolen = await runIn(sandbox, `cat ${it.secret} link-out; cat /proc/*/environ`)
      expect(stolen.output).not.toContain('hidden-on-the-host')
    })

    test('programs of the repository come first on the PATH, and work by its path on the host', async () => {
      await using it = lab()
      const program = (path: string, text: string): void => {
        mkdirSync(dirname(join(it.repository, path)), { recursive: true })
        writeFileSync(join(it.repository, path), text, { mode: 0o755 })
      }
      mkdirSync(join(it.repository, '.venv/bin'), { recursive: true })
      symlinkSync('/bin/sh', join(it.repository, '.venv/bin/sh'))
      program('.venv/bin/one', `#!${it.repository}/.venv/bin/sh\necho own $0\n`)
      program('node_modules/.bin/two', '#!/bin/sh\necho own $0\n')
      // Not the shell that runs the step.
      program('tools/sh', '#!/bin/true\n')
      program('tools/two', '#!/bin/sh\necho given $0\n')
      program('linked/three', '#!/bin/sh\necho linked $0\n')
      symlinkSync(join(it.repository, 'linked'), join(it.directory, 'link-in'))
      const own = [join(it.repository, 'tools'), join(it.directory, 'link-in'), 'relative'].join(':')
      program('relative/four', '#!/bin/sh\necho relative $0\n')
      const env = { ...it.env, PATH: `${own}:${it.env.PATH}` }
      for (const workspace of ['readonly', 'overlay'] as const) {
        const sandbox = await it.open({ workspace, env })
        expect((await runIn(sandbox, 'one; two; three; four')).output).toBe(
          'own /workspace/.venv/bin/one\ngiven /workspace/tools/two\nlinked /workspace/linked/three\nrelative /workspace/relative/four\n',
        )
      }
    })

    test('programs that a step installs for the user come last on the PATH', async () => {
      await using it = lab()
      const sandbox = await it.open({ workspace: 'overlay' })
      const install =
        'cd ~ && mkdir -p .local/bin && cd .local/bin && printf "#!/bin/sh\\necho own\\n" | tee mine ls >&2 && chmod +x mine ls'
      expect((await runIn(sandbox, install)).end).toMatchObject({ exitCode: 0 })
      expect((await runIn(sandbox, 'mine; ls /; echo end')).output).toMatch(/^own\n(?!own)[\s\S]*end\n$/)
    })

    test('a program of the repository that leads to a missing one never gives way to another', async () => {
      await using it = lab()
      mkdirSync(join(it.repository, '.venv/bin'), { recursive: true })
      symlinkSync('/opt/nowhere/bin/git', join(it.repository, '.venv/bin/git'))
      const { end, output } = await runIn(await it.open(), 'git --version')
      expect(output).toBe(
        '/workspace/.venv/bin/git leads to /opt/nowhere/bin/git, which this sandbox does not have.\n',
      )
      expect(end).toEqual(exited(127))
    })

    test('/tmp and the home directory are empty at first, writable, and the same for every step', async () => {
      await using it = lab()
      const sandbox = await it.open()
      expect(
        (await runIn(sandbox, 'echo $HOME; ls -A $HOME; echo 1 > $HOME/a; echo 2 > /tmp/b')).output,
      ).toBe('/tmp/home\n')
      expect((await runIn(sandbox, 'cat ~/a /tmp/b')).output).toBe('1\n2\n')
      expect((await runIn(await it.open(), 'ls -A /tmp $HOME')).output).not.toMatch(/^[ab]$/m)
    })

    test('git works in a linked worktree as in any repository, and changes nothing of it', async () => {
      await using it = lab()
      const git = (...args: readonly string[]): string =>
        spawnSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@example.com', ...args], {
          cwd: it.repository,
          encoding: 'utf8',
        }).stdout
      git('add', 'sentinel.txt')
      git('commit', '-qm', 'first')
      const worktree = join(it.directory, 'worktree')
      git('worktree', 'add', '-q', '-b', 'other', worktree)
      const before = git('for-each-ref')
      for (const repository of [it.repository, worktree]) {
        const sandbox = await it.open({ repository, workspace: 'overlay' })
        const { output } = await runIn(
          sandbox,
          'git log --format=%s; echo x >> sentinel.txt; git -c user.name=n -c user.email=n@example.com commit -qam second; git log --format=%s; git status --porcelain --untracked-files=no; git rev-parse --show-toplevel',
        )
        expect(output).toBe('first\nsecond\nfirst\n/workspace\n')
        const reading = await it.open({ repository })
        expect(
          (await runIn(reading, 'git status --porcelain --untracked-files=no; git log --format=%s')).output,
        ).toBe('first\n')
      }
      expect(git('for-each-ref')).toBe(before)
    })

    test('a copy that shares the objects of its origin is at the path of the origin, and git works in it', async () => {
      await using it = lab()
      const git = (...args: readonly string[]): void =>
        void spawnSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@example.com', ...args], {
          cwd: it.repository,
        })
      git('add', 'sentinel.txt')
      git('commit', '-qm', 'first')
      const copy = join(it.directory, 'copy')
      git('clone', '-qs', it.repository, copy)
      writeFileSync(join(copy, 'only.txt'), 'of the copy\n')
      for (const workspace of ['readonly', 'overlay'] as const) {
        const sandbox = await it.open({ repository: copy, origin: it.repository, workspace })
        const command = `git log --format=%s; cat only.txt; cd ${it.repository}; cat only.txt; git log --format=%s`
        expect((await runIn(sandbox, command)).output).toBe('first\nof the copy\nof the copy\nfirst\n')
      }
    })

    test('no process can make the shell of its step exit with 0', async () => {
      await using it = lab()
      copyFileSync(
        join(import.meta.dirname, '../../test/corpus/sandbox/forge-exit-code.pl'),
        join(it.repository, 'forge.pl'),
      )
      const sandbox = await it.open()
      for (const way of ['ptrace', 'seize', 'mem']) {
        const { end, output } = await runIn(sandbox, `perl forge.pl ${way}; exit 3`)
        expect(output).toMatch(/^refused: /)
        expect(end).toEqual(exited(3))
      }
    })

    test('the network is off', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const { output } = await runIn(
        sandbox,
        'tail -n +3 /proc/net/route; awk "NR>1" /proc/net/route; cat /proc/net/tcp',
      )
      expect(output.trim().split('\n')).toHaveLength(1)
      expect(sandbox.report.network).toBe('none')
    })

    test('without a network, localhost and the name of the sandbox lead to its own loopback', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const program =
        'const server = require("node:net").createServer((it) => it.end("hello")).listen(0, "127.0.0.1", async () => { for (const host of ["localhost", require("node:os").hostname()]) for await (const said of require("node:net").connect(server.address().port, host)) console.log(String(said)); server.close() })'
      expect(await runIn(sandbox, `node -e '${program}'`)).toMatchObject({
        end: exited(0),
        output: 'hello\nhello\n',
      })
    })

    test('an allowed network does not reach the loopback of the host; network host does', async () => {
      await using it = lab()
      const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhello\n')).listen(
        0,
        '127.0.0.1',
      )
      await once(server, 'listening')
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : 0
      const ask = (host: string) =>
        `bash -c 'exec 3<>/dev/tcp/${host}/${port}; cat <&3'; node -e 'fetch("http://${host}:${port}").then((r) => r.text()).then(console.log, () => console.log("none"))'`
      const allowed = await it.open({ network: 'allow' })
      for (const host of ['127.0.0.1', 'localhost'])
        expect(
          (await runIn(allowed, ask(host), { env: { no_proxy: '', NO_PROXY: '' } })).output,
        ).not.toContain('hello')
      const shared = await it.open({ network: 'host' })
      expect((await runIn(shared, ask('127.0.0.1'))).output).toContain('hello')
      expect(shared.report).toMatchObject({ network: 'host' })
      server.close()
    })

    test('exit codes are returned, and both streams come in the order they were written', async () => {
      await using it = lab()
      const sandbox = await it.open()
      expect((await runIn(sandbox, 'exit 7')).end).toEqual(exited(7))
      expect((await runIn(sandbox, 'no-such-program-here')).end).toEqual(exited(127))
      expect((await runIn(sandbox, 'kill -9 $$')).end).toEqual(exited(137))
      expect((await runIn(sandbox, 'kill -TERM $$')).end).toEqual(exited(143))
      expect((await runIn(sandbox, 'if then')).end).toEqual(exited(2))
      const lines = Array.from({ length: 20 }, (_, index) => `echo ${index}${index % 2 === 0 ? '' : ' >&2'}`)
      const { output } = await runIn(sandbox, lines.join('; '))
      expect(output).toBe(lines.map((_, index) => `${index}\n`).join(''))
      expect((await runIn(sandbox, 'echo oops > /dev/stderr; echo fine > /dev/stdout; cat')).output).toBe(
        'oops\nfine\n',
      )
    })

    test('large output arrives complete, and binary output unchanged', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const chunks: Buffer[] = []
      const { end } = await runIn(sandbox, "head -c 5000000 /dev/zero | tr '\\0' '\\377'", {
        output: (chunk) => chunks.push(Buffer.from(chunk)),
      })
      expect(end).toEqual(exited(0))
      const all = Buffer.concat(chunks)
      expect(all.length).toBe(5_000_000)
      expect(all.every((byte) => byte === 0xff)).toBe(true)
    })

    test('background processes of a step are gone when it is over', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const token = `32${Date.now()}`
      const { output } = await runIn(
        sandbox,
        `sleep ${token} & (setsid sleep ${token} >/dev/null 2>&1 &); sleep 0.2; echo done`,
      )
      expect(output).toBe('done\n')
      expect(processesWith(token)).toEqual([])
    })

    test('a step that times out is ended with everything it started, and the next one runs', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const token = `33${Date.now()}`
      const command = `trap "" TERM; echo begun; (setsid sleep ${token} &); sleep ${token}`
      // On a busy machine it may not have begun in so short a time.
      let output = ''
      for (let timeoutMs = 1_000; output === ''; timeoutMs *= 4) {
        const ran = await runIn(sandbox, command, { timeoutMs })
        expect(ran.end).toEqual({ kind: 'timed_out' })
        output = ran.output
      }
      expect(output).toBe('begun\n')
      expect(processesWith(token)).toEqual([])
      expect((await runIn(sandbox, 'echo next')).output).toBe('next\n')
    })

    test('a step, an opening and a whole sandbox can be cancelled', async () => {
      await using it = lab()
      const gone = AbortSignal.abort()
      expect(await engine.open(it.request({ signal: gone }))).toEqual({ kind: 'cancelled' })
      const sandbox = await it.open()
      const token = `34${Date.now()}`
      const stop = new AbortController()
      const running = runIn(sandbox, `echo on; sleep ${token}`, {
        signal: stop.signal,
        output: () => stop.abort(),
      })
      expect((await running).end).toEqual({ kind: 'cancelled' })
      expect(processesWith(token)).toEqual([])
      const whole = new AbortController()
      const other = await it.open({ signal: whole.signal })
      const ended = runIn(other, `echo on; sleep ${token}`, { output: () => whole.abort() })
      expect((await ended).end).toEqual({ kind: 'cancelled' })
      expect(processesWith(token)).toEqual([])
    })

    test('a step that exceeds its memory limit is ended, and the next one runs', async () => {
      await using it = lab()
      const memoryBytes = 150 * 1024 ** 2
      const sandbox = await it.open({ limits: { ...plentiful, memoryBytes } })
      const { end } = await runIn(sandbox, 'head -c 1500000000 /dev/zero | tail -c 1400000000 | wc -c')
      expect(end).toEqual({ kind: 'exceeded', limit: 'memory', bytes: memoryBytes })
      const limit = sandbox.report.limits.memoryBytes
      if (limit.kind === 'not_applied') expect(limit.why).not.toBe('')
      expect((await runIn(sandbox, 'echo fine')).output).toBe('fine\n')
    })

    test('a step that exceeds its disk limit is ended, wherever it writes', async () => {
      await using it = lab()
      const diskBytes = 50 * 1024 ** 2
      for (const place of ['/artifacts', '/tmp', '/workspace']) {
        const sandbox = await it.open({ workspace: 'overlay', limits: { ...plentiful, diskBytes } })
        const { end } = await runIn(sandbox, `head -c 120000000 /dev/zero > ${place}/big; sleep 600`)
        expect(end).toEqual({ kind: 'exceeded', limit: 'disk', bytes: diskBytes })
        rmSync(join(it.artifacts, 'big'), { force: true })
        await sandbox.close()
      }
      const quick = await it.open({ limits: { ...plentiful, diskBytes } })
      expect((await runIn(quick, 'head -c 20000000 /dev/zero > /artifacts/some')).end).toEqual(exited(0))
    })

    test('layers: what one sandbox wrote to the workspace and home is there for the next', async () => {
      await using it = lab()
      const keep = join(it.directory, 'layer')
      mkdirSync(keep)
      const first = await it.open({ keep, workspace: 'readonly' })
      const write = 'echo made > made; echo more >> sentinel.txt; rm -r deep; echo h > ~/h'
      expect(await runIn(first, write)).toEqual({ end: exited(0), output: '' })
      expect(await first.close()).toEqual([])
      for (const workspace of ['readonly', 'overlay'] as const) {
        const next = await it.open({ layers: [keep], workspace })
        const { output } = await runIn(
          next,
          'cat made sentinel.txt ~/h; ls deep 2>&1 | wc -l; echo x > ~/x; (echo y > made) 2>/dev/null && echo wrote',
        )
        expect(output).toBe(`made\nuntouched\nmore\nh\n1\n${workspace === 'overlay' ? 'wrote\n' : ''}`)
        expect(await next.close()).toEqual([])
      }
      const second = join(it.directory, 'second')
      mkdirSync(second)
      const onTop = await it.open({ layers: [keep], keep: second })
      expect((await runIn(onTop, 'cat made ~/h; echo two > two')).output).toBe('made\nh\n')
      await onTop.close()
      const both = await it.open({ layers: [second, keep] })
      expect((await runIn(both, 'cat two made ~/h')).output).toBe('two\nmade\nh\n')
      expect(readFileSync(join(it.repository, 'sentinel.txt'), 'utf8')).toBe('untouched\n')
    })

    test('a process limit applies to everything that a step starts', async () => {
      await using it = lab()
      const sandbox = await it.open({ limits: { ...plentiful, pids: 30 } })
      expect(sandbox.report.limits.pids).toEqual({ kind: 'applied', value: 30 })
      const { output } = await runIn(
        sandbox,
        'i=0; while [ $i -lt 60 ]; do (sleep 3 || echo refused) & i=$((i+1)); done; sleep 1; ls /proc | grep -c "^[0-9]"',
        { timeoutMs: 600_000 },
      )
      expect(output).toMatch(/fork|refused|unavailable/i)
      const enough = await it.open({ limits: { ...plentiful, pids: 30 } })
      const few = 'i=0; while [ $i -lt 20 ]; do sleep 1 & i=$((i+1)); done; wait; echo fine'
      expect((await runIn(enough, few)).output).toBe('fine\n')
    })

    test('a processor limit applies to everything that a step starts, or is reported as not applied', async () => {
      await using it = lab()
      const sandbox = await it.open({ limits: { ...plentiful, cpus: 0.2 } })
      const spin = 'sh -c "while :; do :; done"'
      const started = performance.now()
      const { output } = await runIn(sandbox, `timeout 2 ${spin} & timeout 2 ${spin} & wait; times`)
      const wallSecs = (performance.now() - started) / 1000
      // `times` prints the shell's own and then its children's, user and system each, as 0m0.00s.
      const used = [...output.matchAll(/(\d+)m(\d+(?:\.\d+)?)s/g)].reduce(
        (sum, [, m, s]) => sum + Number(m) * 60 + Number(s),
        0,
      )
      const limit = sandbox.report.limits.cpus
      if (limit.kind === 'applied') expect(used).toBeLessThan(0.2 * wallSecs + 0.3)
      else expect(limit.why).not.toBe('')
    })

    test('a cache is written to only where it is asked for', async () => {
      await using it = lab()
      const source = join(it.directory, 'downloads')
      mkdirSync(source)
      const cache = { source, target: '/tmp/downloads' }
      await runIn(
        await it.open({ caches: [{ ...cache, writes: 'through' }] }),
        'echo kept > /tmp/downloads/file',
      )
      const caches = [{ ...cache, writes: 'aside' }] as const
      const change = 'cat /tmp/downloads/file; echo changed > /tmp/downloads/file; cat /tmp/downloads/file'
      expect((await runIn(await it.open({ caches }), change)).output).toBe('kept\nchanged\n')
      expect(readFileSync(join(source, 'file'), 'utf8')).toBe('kept\n')
    })

    test('closing twice is safe, leaves nothing, and no step runs afterwards', async () => {
      await using it = lab()
      const { runId } = it.request()
      const sandbox = await it.open({ workspace: 'overlay' })
      await runIn(sandbox, 'mkdir -p d /tmp/lower && echo x | tee d/f > /tmp/lower/f && chmod 000 d')
      expect(await options.leftovers(runId, it.env)).not.toEqual([])
      expect(await sandbox.close()).toEqual([])
      expect(await sandbox.close()).toEqual([])
      expect(await options.leftovers(runId, it.env)).toEqual([])
      expect((await runIn(sandbox, 'true')).end.kind).not.toBe('exited')
    })

    test('a killed owner leaves no process; sweep removes its other leftovers, and no other sandbox', async () => {
      await using it = lab()
      const token = `35${Date.now()}`
      const living = await it.open()
      const runId = `run_20260101_000000_k${randomSuffix(6)}`
      const owner = await startOwner(it.request({ runId, workspace: 'overlay' }), token)
      while (processesWith(`sleep\0${token}`).length === 0) await sleep(20)
      expect(await engine.sweep({ env: it.env })).toEqual([])
      owner.kill('SIGKILL')
      await once(owner, 'exit')
      expect(await options.leftovers(runId, it.env)).not.toEqual([])
      const swept = await engine.sweep({ env: it.env })
      expect(swept.join('\n')).toContain(runId)
      expect(swept).toHaveLength(1)
      expect(await options.leftovers(runId, it.env)).toEqual([])
      while (processesWith(`sleep\0${token}`).length > 0) await sleep(20)
      expect((await runIn(living, 'echo alive')).output).toBe('alive\n')
      expect(await engine.sweep({ env: it.env })).toEqual([])
    })

    test('a killed owner whose only step has not started leaves no process either, and does not start it', async () => {
      await using it = lab()
      const token = `36${Date.now()}`
      const runId = `run_20260101_000000_w${randomSuffix(6)}`
      const command = `touch /artifacts/ran; sleep ${token}`
      const onlyStep = { command, env: {}, timeoutMs: 600_000 }
      const owner = await startOwner(it.request({ runId, onlyStep }), token)
      // Time to come to where it waits.
      await sleep(500)
      owner.kill('SIGKILL')
      await once(owner, 'exit')
      await engine.sweep({ env: it.env })
      while (processesWith(token).length > 0) await sleep(20)
      expect(existsSync(join(it.artifacts, 'ran'))).toBe(false)
      expect(await options.leftovers(runId, it.env)).toEqual([])
    })

    test('the host sees symlinks, FIFOs and closed directories in the artifacts as such', async () => {
      await using it = lab()
      const sandbox = await it.open()
      await runIn(
        sandbox,
        `ln -s ${it.secret} /artifacts/link; mkfifo /artifacts/fifo; mkdir -m 0 /artifacts/closed`,
      )
      expect(lstatSync(join(it.artifacts, 'link')).isSymbolicLink()).toBe(true)
      expect(lstatSync(join(it.artifacts, 'fifo')).isFIFO()).toBe(true)
      expect(lstatSync(join(it.artifacts, 'closed')).isDirectory()).toBe(true)
    })
  })
}

/** Opens a sandbox, runs a step that does not end, and prints when it has started. */
const ownerProgram = `
const [module, name, request, token] = process.argv.slice(1)
const engine = (await import(module))[name]
const signal = new AbortController().signal
const asked = { ...JSON.parse(request), signal }
const opening = await engine.open(asked)
if (opening.kind !== 'open') throw new Error(JSON.stringify(opening))
if (asked.onlyStep !== undefined) setInterval(() => process.stdout.write('open'), 100)
else opening.sandbox.run({ command: 'echo begun; echo x > new; sleep ' + token, env: {}, timeoutMs: 600000, signal, output: () => process.stdout.write('begun') })
`
