import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
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
import type { SandboxEngine } from './contract.ts'

export interface ConformanceOptions extends LabOptions {
  /** Where a process of its own finds the engine, to be killed in the middle. */
  readonly from: { readonly module: string; readonly name: string }
  /** Names of what a sandbox of this run id has left on the machine: containers, cgroups, directories. */
  readonly leftovers: (runId: string, env: Readonly<Record<string, string>>) => Promise<readonly string[]>
  /** Whether an allowed network is the host's own, so that its loopback can be reached. */
  readonly sharesHostNetwork: boolean
}

const exited = (exitCode: number) => ({ kind: 'exited', exitCode })

/** Every promise of the contract, played on an engine with real processes. */
export function conformance(
  name: string,
  makeEngine: () => SandboxEngine,
  options: ConformanceOptions,
): void {
  const engine = makeEngine()
  const lab = (directory?: string) => sandboxLab(engine, options, directory)

  describe(`the sandbox engine ${name}`, () => {
    test('says that it can be used, in which version, and leaves nothing by saying so', async () => {
      await using it = lab()
      const probe = await engine.probe({ env: it.env })
      expect(probe).toMatchObject({ engine: engine.name, usable: true })
      expect(probe.detail).toMatch(/^\d/)
      expect(await engine.sweep({ env: it.env })).toEqual([])
    })

    test('shows the repository at /workspace, where a step starts, and lets nobody write there', async () => {
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

    test('a repository whose path holds every awkward character is mounted all the same', async () => {
      await using it = lab('a, b:c\\d "e" \'f\' =g ü $HOME')
      for (const workspace of ['readonly', 'overlay'] as const) {
        const sandbox = await it.open({ workspace })
        expect((await runIn(sandbox, 'cat sentinel.txt')).output).toBe('untouched\n')
      }
    })

    test('/artifacts is the run directory; what is left there can be read and removed by the caller', async () => {
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

    test('nothing else can be written, and what is written to /tmp is gone with the run', async () => {
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

    test('a step is not root, has no capability, and cannot get any', async () => {
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

    test('the processes of a step are no root on the host either', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const token = `31${Date.now()}`
      const running = runIn(sandbox, `exec sleep ${token}`, { timeoutMs: 20_000 })
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

    test('a step sees the variables it is given, PATH and HOME, and nothing of the caller', async () => {
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

    // An engine whose network is another one has none here that could be reached.
    const sharedNetworkTest = options.sharesHostNetwork ? test : null
    sharedNetworkTest?.('an allowed network reaches the machine', async () => {
      await using it = lab()
      const server = createServer((socket) => socket.end('hello\n')).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : 0
      const sandbox = await it.open({ network: 'allow' })
      const { output } = await runIn(
        sandbox,
        `exec 3<>/dev/tcp/127.0.0.1/${port}; cat <&3`.replace(/^/, "bash -c '").concat("'"),
      )
      server.close()
      expect(output).toBe('hello\n')
      expect(sandbox.report).toMatchObject({ network: 'allow' })
      expect(sandbox.report.shortfalls.join()).toContain('loopback')
    })

    test('exit codes come through, and both streams in the order they were written', async () => {
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

    test('much output arrives whole, and bytes that are no text as they are', async () => {
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

    test('what a step leaves running is gone when it is over', async () => {
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

    test('a step that takes too long is ended with everything it started, and the next one runs', async () => {
      await using it = lab()
      const sandbox = await it.open()
      const token = `33${Date.now()}`
      const command = `trap "" TERM; echo begun; (setsid sleep ${token} &); sleep ${token}`
      const { end, output } = await runIn(sandbox, command, { timeoutMs: 1_500 })
      expect(end).toEqual({ kind: 'timed_out' })
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

    test('too much memory is a failure of the machinery, not of the code', async () => {
      await using it = lab()
      const sandbox = await it.open({ limits: { ...plentiful, memoryBytes: 150 * 1024 ** 2 } })
      const { end } = await runIn(sandbox, 'head -c 1500000000 /dev/zero | tail -c 1400000000 | wc -c')
      expect(end).toMatchObject({ kind: 'failed', failure: { type: 'resource_exhaustion' } })
      const limit = sandbox.report.limits.memoryBytes
      if (limit.kind === 'not_applied') expect(limit.why).not.toBe('')
      expect((await runIn(sandbox, 'echo fine')).output).toBe('fine\n')
    })

    test('a limit on processes holds for everything a step starts', async () => {
      await using it = lab()
      const sandbox = await it.open({ limits: { ...plentiful, pids: 30 } })
      expect(sandbox.report.limits.pids).toEqual({ kind: 'applied', value: 30 })
      const { output } = await runIn(
        sandbox,
        'i=0; while [ $i -lt 60 ]; do (sleep 3 || echo refused) & i=$((i+1)); done; sleep 1; ls /proc | grep -c "^[0-9]"',
        { timeoutMs: 15_000 },
      )
      expect(output).toMatch(/fork|refused|unavailable/i)
      const enough = await it.open({ limits: { ...plentiful, pids: 30 } })
      const few = 'i=0; while [ $i -lt 20 ]; do sleep 1 & i=$((i+1)); done; wait; echo fine'
      expect((await runIn(enough, few)).output).toBe('fine\n')
    })

    test('a limit on processors holds for everything a step starts, or is said not to', async () => {
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

    test('a cache outlives runs and can be written', async () => {
      await using it = lab()
      const source = join(it.directory, 'downloads')
      mkdirSync(source)
      const caches = [{ source, target: '/tmp/downloads' }]
      await runIn(await it.open({ caches }), 'echo kept > /tmp/downloads/file')
      expect((await runIn(await it.open({ caches }), 'cat /tmp/downloads/file')).output).toBe('kept\n')
      expect(readFileSync(join(source, 'file'), 'utf8')).toBe('kept\n')
    })

    test('closing twice is fine, leaves nothing, and no step runs afterwards', async () => {
      await using it = lab()
      const { runId } = it.request()
      const sandbox = await it.open({ workspace: 'overlay' })
      await runIn(sandbox, 'mkdir -p d && echo x > d/f && chmod 000 d')
      expect(await options.leftovers(runId, it.env)).not.toEqual([])
      expect(await sandbox.close()).toEqual([])
      expect(await sandbox.close()).toEqual([])
      expect(await options.leftovers(runId, it.env)).toEqual([])
      expect((await runIn(sandbox, 'true')).end.kind).not.toBe('exited')
    })

    test('a killed owner leaves no process; what else it left is swept, and nobody else is', async () => {
      await using it = lab()
      const token = `35${Date.now()}`
      const living = await it.open()
      const runId = `run_20260101_000000_k${randomSuffix(6)}`
      const { signal: _, ...request } = it.request({ runId, workspace: 'overlay' })
      const owner = spawn(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          ownerProgram,
          options.from.module,
          options.from.name,
          JSON.stringify(request),
          token,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      await once(owner.stdout, 'data')
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

    test('the host sees links, FIFOs and closed directories in the artifacts for what they are', async () => {
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

/** Opens a sandbox, runs a step that does not end, and says so. */
const ownerProgram = `
const [module, name, request, token] = process.argv.slice(1)
const engine = (await import(module))[name]
const signal = new AbortController().signal
const opening = await engine.open({ ...JSON.parse(request), signal })
if (opening.kind !== 'open') throw new Error(JSON.stringify(opening))
opening.sandbox.run({ command: 'echo begun; echo x > new; sleep ' + token, env: {}, timeoutMs: 600000, signal, output: () => process.stdout.write('begun') })
`
