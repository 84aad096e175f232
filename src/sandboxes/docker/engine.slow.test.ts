import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  type OpenedSandbox,
  openSandbox,
  runInSandbox,
  sandboxRequest,
} from '../../../test/support/open-sandbox.ts'
import { testDocker } from '../../../test/support/sandboxes.ts'
import type { SandboxRequest } from '../contract.ts'
import { dockerEngine } from './engine.ts'

const { dockerTest, env, image, noShellImage } = await testDocker()

dockerTest('a step is a plain user without powers, and both streams come in their order', async () => {
  const { sandbox } = await open()
  const ran = await runInSandbox(
    sandbox,
    'for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done; id -u; grep -E "CapEff|NoNewPrivs|Seccomp:" /proc/self/status; exit 7',
  )
  expect(ran.end).toEqual({ kind: 'exited', exitCode: 7 })
  expect(ran.output).toBe(
    `${[1, 2, 3, 4, 5].map((i) => `out${i}\nerr${i}\n`).join('')}1000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n`,
  )
  expect(sandbox.report).toMatchObject({
    engine: 'docker',
    user: '1000:1000',
    sandboxed: true,
    limits: { memoryBytes: { kind: 'applied' }, cpus: { kind: 'applied' }, pids: { kind: 'applied' } },
    shortfalls: [],
  })
})

dockerTest(
  "an overlay of root's private repository can be written everywhere, and the host sees none of it",
  async () => {
    const { sandbox, repository } = await open({ workspace: 'overlay' })
    mkdirSync(join(repository, 'sub'), { mode: 0o700 })
    const other = await open({ workspace: 'overlay', repository })
    writeFileSync(join(repository, 'sub', 'secret'), 'kept', { mode: 0o600 })
    const ran = await runInSandbox(
      other.sandbox,
      'echo changed >> README.md && cat sub/secret && rm sub/secret && mkdir sub/new && touch top sub/new/x && git init -q && git status --short && echo done',
    )
    expect(ran).toMatchObject({ end: { kind: 'exited', exitCode: 0 } })
    expect(ran.output).toContain('done')
    expect(readFileSync(join(repository, 'README.md'), 'utf8')).toBe('# readme\n')
    expect(readFileSync(join(repository, 'sub', 'secret'), 'utf8')).toBe('kept')
    expect(existsSync(join(repository, 'top'))).toBe(false)
    expect((await runInSandbox(sandbox, 'test ! -e top')).end).toEqual({ kind: 'exited', exitCode: 0 })
  },
)

dockerTest('a repository whose path is full of odd signs is mounted as it is', async () => {
  const { scratch } = await open()
  const repository = join(scratch, 'a,b:c\\d e"f,ro')
  mkdirSync(repository)
  writeFileSync(join(repository, 'here'), 'yes')
  for (const workspace of ['readonly', 'overlay'] as const) {
    const { sandbox } = await open({ workspace, repository })
    expect(await runInSandbox(sandbox, 'cat here')).toMatchObject({ end: { exitCode: 0 }, output: 'yes' })
  }
})

dockerTest('what a step leaves in the background is dead when the step has ended', async () => {
  const { sandbox } = await open()
  const sleepers = async (): Promise<string> =>
    (await runInSandbox(sandbox, 'ps | grep -c "sleep [0-9]"')).output
  const before = await sleepers()
  const ran = await runInSandbox(sandbox, 'setsid sleep 300 & (trap "" TERM; sleep 301) & echo started')
  expect(ran).toMatchObject({ end: { exitCode: 0 }, output: 'started\n' })
  expect(Number(before)).toBeGreaterThan(0)
  expect(await sleepers()).toBe(before)
})

dockerTest(
  'a step that needs too much memory is a fault of the machinery, also when its shell goes on',
  async () => {
    const limits = { memoryBytes: 64 * 1024 * 1024, cpus: 2, pids: 64 }
    const eat = 'node -e "const a=[];for(;;)a.push(Buffer.alloc(1e7,1))"'
    for (const command of [eat, `${eat} | cat; true`]) {
      const { sandbox } = await open({ limits })
      expect((await runInSandbox(sandbox, command)).end).toMatchObject({
        kind: 'failed',
        failure: { type: 'resource_exhaustion' },
      })
    }
  },
)

dockerTest(
  'a step that meets its limit of processes fails by itself, and what it left is ended',
  async () => {
    const { sandbox } = await open({ limits: { memoryBytes: 512 * 1024 * 1024, cpus: 2, pids: 32 } })
    const ran = await runInSandbox(
      sandbox,
      'i=0; while [ $i -lt 100 ]; do sleep 200 & i=$((i+1)); done; exit 3',
    )
    expect(ran.end).toMatchObject({ kind: 'exited' })
    expect(ran.end).not.toEqual({ kind: 'exited', exitCode: 0 })
  },
)

dockerTest('a step over its time is ended with all it started', async () => {
  const { sandbox, artifacts } = await open()
  const ran = await runInSandbox(sandbox, '(while :; do date > /artifacts/alive; done) & sleep 300', {
    timeoutMs: 500,
  })
  expect(ran.end).toEqual({ kind: 'timed_out' })
  const { mtimeMs } = statSync(join(artifacts, 'alive'))
  await new Promise((passed) => setTimeout(passed, 300))
  expect(statSync(join(artifacts, 'alive')).mtimeMs).toBe(mtimeMs)
})

dockerTest('a cancelled step ends, and so does an opening that is cancelled', async () => {
  const { sandbox } = await open()
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 200)
  expect((await runInSandbox(sandbox, 'sleep 300', { signal: stop.signal })).end).toEqual({
    kind: 'cancelled',
  })
  const request = requestFor({ signal: stop.signal })
  expect(await dockerEngine.open(request)).toEqual({ kind: 'cancelled' })
})

dockerTest('an image without a shell is told as such', async () => {
  const opening = await dockerEngine.open(requestFor({ image: noShellImage }))
  expect(opening).toMatchObject({
    kind: 'failed',
    failure: { type: 'container_creation', message: expect.stringContaining('has no shell') },
  })
})

dockerTest('an image that is nowhere is pulled for, and its lack is told', async () => {
  const progress: string[] = []
  const opening = await dockerEngine.open(
    requestFor({ image: '127.0.0.1:1/gantry/none:1', onProgress: (text) => progress.push(text) }),
  )
  expect(opening).toMatchObject({
    kind: 'failed',
    failure: { type: 'image_pull', message: expect.stringContaining('127.0.0.1:1/gantry/none:1') },
  })
  expect(progress[0]).toBe('Pulling 127.0.0.1:1/gantry/none:1.')
})

dockerTest('an engine that is not there is unavailable', async () => {
  const gone = { ...env, DOCKER_HOST: 'unix:///nonexistent/docker.sock' }
  expect(await dockerEngine.open(requestFor({ env: gone }))).toMatchObject({
    kind: 'failed',
    failure: { type: 'docker_unavailable' },
  })
  expect(await dockerEngine.probe({ env: gone })).toMatchObject({ usable: false })
  expect(await dockerEngine.probe({ env })).toMatchObject({
    usable: true,
    detail: expect.stringMatching(/^\d/),
  })
})

dockerTest(
  'what a step writes to /artifacts can be read, and links it makes there lead nowhere on the host',
  async () => {
    const { sandbox, artifacts } = await open()
    expect(
      (await runInSandbox(sandbox, 'echo x > /artifacts/x; ln -s /etc/hostname /artifacts/out')).end,
    ).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(artifacts, 'x'), 'utf8')).toBe('x\n')
  },
)

dockerTest('a target of a cache below /workspace makes no directory in the repository', async () => {
  const { repository, scratch } = await open()
  const source = join(scratch, 'cache')
  const opening = await dockerEngine.open(
    requestFor({ repository, caches: [{ source, target: '/workspace/node_modules/.cache' }] }),
  )
  if (opening.kind === 'open') await opening.sandbox.close()
  expect(existsSync(join(repository, 'node_modules'))).toBe(false)
  const writable = await open({ repository, caches: [{ source, target: '/cache' }] })
  expect((await runInSandbox(writable.sandbox, 'echo kept > /cache/file')).end).toMatchObject({ exitCode: 0 })
  expect(readFileSync(join(source, 'file'), 'utf8')).toBe('kept\n')
})

dockerTest('a callback that throws ends the step and is thrown', async () => {
  const { sandbox } = await open()
  const thrown = sandbox.run({
    command: 'echo x; sleep 300',
    env: {},
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    output: () => {
      throw new Error('the disk is full')
    },
  })
  await expect(thrown).rejects.toThrow('the disk is full')
})

function requestFor(wanted: Partial<SandboxRequest>): SandboxRequest {
  return sandboxRequest({ image, env, ...wanted })
}

function open(wanted: Partial<SandboxRequest> = {}): Promise<OpenedSandbox> {
  return openSandbox(dockerEngine, { image, env, ...wanted })
}
