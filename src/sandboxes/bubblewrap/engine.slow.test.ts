import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { asNobody } from '../../../test/support/as-nobody.ts'
import { needs } from '../../../test/support/needs.ts'
import { plentiful, processesWith, runIn, sandboxLab } from '../../../test/support/sandbox-lab.ts'
import { findProgram } from '../../io/find-program.ts'
import { isRoot } from '../../io/is-root.ts'
import { bubblewrapEngine } from './engine.ts'

const path = process.env.PATH ?? ''
const lab = () => sandboxLab(bubblewrapEngine, { image: 'debian:12', env: { PATH: path } })
const bwrap = findProgram('bwrap', path) ?? ''
const asRoot = needs('root', isRoot())

test('Maven, which does not read the usual variables, gets the proxy of an allowed network', async () => {
  await using it = lab()
  const sandbox = await it.open({ network: 'allow' })
  const { output } = await runIn(sandbox, 'echo "$https_proxy $MAVEN_OPTS"')
  expect(output).toMatch(
    /^http:\/\/127\.0\.0\.1:(\d+) .*-Dhttps\.proxyHost=127\.0\.0\.1 -Dhttps\.proxyPort=\1 /,
  )
})

describe('bubblewrap that cannot work', () => {
  test('not installed: opening fails with the command to install it', async () => {
    await using it = lab()
    const env = { ...it.env, PATH: join(it.directory, 'nothing') }
    expect(await bubblewrapEngine.open(it.request({ env }))).toMatchObject({
      kind: 'failed',
      failure: { type: 'container_creation', message: expect.stringContaining('apt-get install bubblewrap') },
    })
    expect(await bubblewrapEngine.probe({ env })).toMatchObject({
      usable: false,
      fix: expect.stringContaining('install'),
    })
  })

  test('removed in the middle of a run: the step is an infrastructure failure', async () => {
    await using it = lab()
    chmodSync(it.directory, 0o755)
    const own = join(it.directory, 'bin')
    mkdirSync(own)
    copyFileSync(bwrap, join(own, 'bwrap'))
    chmodSync(join(own, 'bwrap'), 0o755)
    const sandbox = await it.open({ env: { ...it.env, PATH: `${own}:${path}` } })
    expect((await runIn(sandbox, 'echo fine')).output).toBe('fine\n')
    rmSync(join(own, 'bwrap'))
    const { end } = await runIn(sandbox, 'true')
    expect(end).toMatchObject({
      kind: 'failed',
      failure: { type: 'container_creation', message: expect.stringContaining('apt-get install bubblewrap') },
    })
  })

  test('namespaces not allowed: opening fails with the required kernel settings', async () => {
    await using it = lab()
    const { signal: _, ...request } = it.request()
    const program = `
      const { bubblewrapEngine } = await import(process.argv[1])
      const opening = await bubblewrapEngine.open({ ...JSON.parse(process.argv[2]), signal: new AbortController().signal })
      console.log(JSON.stringify(opening))`
    const inside = [
      '--unshare-user',
      '--uid',
      '1000',
      '--gid',
      '1000',
      '--disable-userns',
      '--dev-bind',
      '/',
      '/',
    ]
    const module = new URL('./engine.ts', import.meta.url).href
    const argv = [
      ...inside,
      process.execPath,
      '--input-type=module',
      '-e',
      program,
      module,
      JSON.stringify(request),
    ]
    const { stdout, stderr } = spawnSync(bwrap, argv, { encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'failed',
      failure: { type: 'container_creation', message: expect.stringMatching(/namespace.*user namespaces/s) },
    })
  })

  /** Kills the outermost process of the sandbox with this word in its command, once the command or its shell is there. */
  const killSandbox = async (token: string): Promise<void> => {
    let found: readonly number[] = []
    while (found.length < 3) {
      await sleep(20)
      found = processesWith(token)
    }
    const ours = processesWith('--die-with-parent').filter((pid) => found.includes(pid))
    const parentOf = (pid: number) =>
      Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    process.kill(ours.find((pid) => !ours.includes(parentOf(pid))) ?? Number.NaN, 'SIGKILL')
  }

  test('killed from outside before its only step starts: unknown', async () => {
    await using it = lab()
    const command = `sleep 40${Date.now()}`
    const sandbox = await it.open({ onlyStep: { command, env: {}, timeoutMs: 60_000 } })
    await killSandbox(command)
    while (processesWith(command).length > 0) await sleep(20)
    expect((await runIn(sandbox, command)).end).toMatchObject({
      kind: 'failed',
      failure: { type: 'unknown' },
    })
  })

  test('killed from outside: unknown, and no process is left', async () => {
    await using it = lab()
    const sandbox = await it.open()
    const token = `41${Date.now()}`
    const running = runIn(sandbox, `sleep ${token}`)
    await killSandbox(token)
    expect((await running).end).toMatchObject({ kind: 'failed', failure: { type: 'unknown' } })
    expect(processesWith(`sleep\0${token}`)).toEqual([])
    expect((await runIn(sandbox, 'echo next')).output).toBe('next\n')
  })
})

describe('limits of bubblewrap', () => {
  asRoot(
    'a child in a pipe that exceeds the memory limit is a failure, even when the shell exits with 0',
    async () => {
      await using it = lab()
      const sandbox = await it.open({ limits: { ...plentiful, memoryBytes: 100 * 1024 ** 2 } })
      const { end } = await runIn(
        sandbox,
        'head -c 1000000000 /dev/zero | tail -c 900000000 | head -c 1 >/dev/null; exit 0',
      )
      expect(end).toMatchObject({ kind: 'exceeded', limit: 'memory' })
      expect(sandbox.report.limits.memoryBytes.kind).toBe('applied')
    },
  )

  asRoot('a full disk is an infrastructure failure, a full /tmp a failure of the step', async () => {
    await using it = lab()
    const small = join(it.directory, 'small')
    mkdirSync(small)
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]).status).toBe(0)
    try {
      const sandbox = await it.open({
        artifacts: small,
        limits: { ...plentiful, memoryBytes: 100 * 1024 ** 2 },
      })
      expect((await runIn(sandbox, 'head -c 90000000 /dev/zero > /tmp/big')).end).toMatchObject({
        kind: 'exited',
      })
      const { end } = await runIn(sandbox, 'head -c 9000000 /dev/zero > /artifacts/big')
      expect(end).toMatchObject({
        kind: 'failed',
        failure: { type: 'resource_exhaustion', message: expect.stringContaining('full') },
      })
    } finally {
      spawnSync('umount', ['-l', small])
    }
  })
})

describe('who owns what', () => {
  asRoot(
    'root works in the repository of another user: existing files can be changed in the overlay',
    async () => {
      await using it = lab()
      for (const file of ['', 'sentinel.txt', 'private.txt']) chownSync(join(it.repository, file), 1234, 1234)
      const sandbox = await it.open({ workspace: 'overlay' })
      const { end, output } = await runIn(
        sandbox,
        'echo x >> private.txt && touch new && cat private.txt && stat -c %u . new',
      )
      expect({ end, output }).toEqual({
        end: { kind: 'exited', exitCode: 0 },
        output: 'for the owner\nx\n1000\n1000\n',
      })
    },
  )

  asRoot('a plain user works in the repository of another: in a copy, and the report says so', async () => {
    await using it = lab()
    // A copy never follows symlinks out of the repository.
    rmSync(join(it.repository, 'link-out'))
    chmodSync(it.directory, 0o755)
    chmodSync(join(it.repository, 'private.txt'), 0o644)
    const own = join(it.directory, 'own')
    mkdirSync(own)
    chownSync(own, 65_534, 65_534)
    const { signal: _, ...request } = it.request({
      workspace: 'overlay',
      artifacts: own,
      env: { ...it.env, HOME: own, XDG_CACHE_HOME: own },
    })
    const program = `
      const { bubblewrapEngine } = await import(process.argv[1])
      const signal = new AbortController().signal
      const opening = await bubblewrapEngine.open({ ...JSON.parse(process.argv[2]), signal })
      const sandbox = opening.sandbox
      const output = (chunk) => process.stdout.write(chunk)
      const end = await sandbox.run({ command: 'echo x >> sentinel.txt && cat sentinel.txt', env: {}, timeoutMs: 600_000, output, signal })
      console.log(JSON.stringify([end, sandbox.report.shortfalls, await sandbox.close()]))`
    const module = new URL('./engine.ts', import.meta.url).href
    const script = ['--input-type=module', '-e', program, module, JSON.stringify(request)]
    const [file = '', ...argv] = [...asNobody(), process.execPath, ...script]
    const node = spawn(file, argv, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    node.stdout.on('data', (chunk) => {
      text += chunk
    })
    await once(node, 'close')
    expect(text).toContain('untouched\nx\n')
    expect(text).toContain('is a temporary copy')
    expect(text).toMatch(/"exitCode":0.*\[\]\]\n$/)
  })
})

test('root of a user namespace works like any plain user', async () => {
  await using it = lab()
  const { signal: _, ...request } = it.request({ workspace: 'overlay' })
  const program = `
    const { bubblewrapEngine } = await import(process.argv[1])
    const signal = new AbortController().signal
    const opening = await bubblewrapEngine.open({ ...JSON.parse(process.argv[2]), signal })
    if (opening.kind !== 'open') throw new Error(JSON.stringify(opening))
    const output = (chunk) => process.stdout.write(chunk)
    await opening.sandbox.run({ command: 'id -u; echo x >> private.txt; cat private.txt', env: {}, timeoutMs: 600_000, output, signal })
    await opening.sandbox.close()`
  const module = new URL('./engine.ts', import.meta.url).href
  const argv = [
    '-Ur',
    process.execPath,
    '--input-type=module',
    '-e',
    program,
    module,
    JSON.stringify(request),
  ]
  const { stdout, stderr } = spawnSync('unshare', argv, { encoding: 'utf8' })
  expect({ stdout, stderr }).toEqual({ stdout: '1000\nfor the owner\nx\n', stderr: '' })
})

test('a cache cannot replace a path of the engine, and a missing cache directory is reported', async () => {
  await using it = lab()
  for (const target of ['/', '/workspace', '/proc/x', '/dev', '/a/../etc', 'relative', '/tmp/'])
    await expect(
      bubblewrapEngine.open(it.request({ caches: [{ source: it.directory, target, writes: 'through' }] })),
    ).rejects.toThrow('a cache cannot be mounted')
  const gone = join(it.directory, 'gone')
  for (const changes of [
    { caches: [{ source: gone, target: '/tmp/c', writes: 'through' as const }] },
    { artifacts: gone },
    { repository: gone },
  ])
    expect(await bubblewrapEngine.open(it.request(changes))).toMatchObject({
      kind: 'failed',
      failure: { type: 'container_creation', message: expect.stringContaining(gone) },
    })
})

test('a repository can contain the state directory of the sandboxes, as a home directory does', async () => {
  await using it = lab()
  const env = { ...it.env, XDG_CACHE_HOME: join(it.repository, '.cache') }
  for (const workspace of ['readonly', 'overlay'] as const) {
    const sandbox = await it.open({ env, workspace })
    expect((await runIn(sandbox, 'cat sentinel.txt')).output).toBe('untouched\n')
    await sandbox.close()
  }
})

describe('a directory instead of an image', () => {
  const busybox = findProgram('busybox', path)
  const withBusybox = needs('busybox', busybox !== null)

  withBusybox('is the root directory, read-only, with nothing of the machine', async () => {
    await using it = lab()
    const tree = rootTree(it.directory, busybox ?? '')
    symlinkSync('busybox', join(tree, 'bin/sh'))
    const sandbox = await it.open({ image: tree })
    const { output } = await runIn(
      sandbox,
      'busybox ls /; (echo x > /bin/y) 2>/dev/null || echo held; busybox cat sentinel.txt',
    )
    expect(output).toBe('artifacts\nbin\ndev\nproc\ntmp\nworkspace\nheld\nuntouched\n')
    expect(sandbox.report.image).toContain(tree)
  })

  withBusybox('without sh, or without its directories, opening fails before the first step', async () => {
    await using it = lab()
    const tree = rootTree(it.directory, busybox ?? '')
    expect(await bubblewrapEngine.open(it.request({ image: tree }))).toMatchObject({
      kind: 'failed',
      failure: { type: 'container_creation', message: expect.stringContaining('sh') },
    })
    rmSync(join(tree, 'workspace'), { recursive: true })
    expect(await bubblewrapEngine.open(it.request({ image: tree }))).toMatchObject({
      kind: 'failed',
      failure: { type: 'container_creation', message: expect.stringContaining('/workspace') },
    })
  })
})

function rootTree(directory: string, busybox: string): string {
  const tree = join(directory, 'tree')
  for (const name of ['bin', 'proc', 'dev', 'tmp', 'workspace', 'artifacts'])
    mkdirSync(join(tree, name), { recursive: true })
  copyFileSync(busybox, join(tree, 'bin/busybox'))
  chmodSync(join(tree, 'bin/busybox'), 0o755)
  writeFileSync(join(tree, 'workspace/.keep'), '')
  return tree
}

test.runIf(existsSync('/etc/maven/m2.conf'))(
  'the configuration that Maven starts with is there, and no settings',
  async () => {
    await using it = lab()
    const { output } = await runIn(await it.open(), 'ls /etc/maven')
    expect(output).toBe('logging\nm2.conf\n')
  },
)
