import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  type OpenedSandbox,
  openSandbox,
  runInSandbox,
  sandboxRequest,
} from '../../../test/support/open-sandbox.ts'
import { testDocker } from '../../../test/support/sandboxes.ts'
import type { SandboxRequest, SandboxStep } from '../contract.ts'
import { dockerEngine } from './engine.ts'

const { dockerTest, env, image, noShellImage } = await testDocker()

dockerTest.for([false, true])(
  'a step is an unprivileged user, and both streams come in order (%s)',
  async (isForOneStep) => {
    const command =
      'for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done; id -u; grep -E "CapEff|NoNewPrivs|Seccomp:" /proc/self/status; exit 7'
    const { sandbox } = await open(isForOneStep ? { onlyStep: onlyStep(command) } : {})
    const ran = await runInSandbox(sandbox, command)
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
  },
)

dockerTest(
  "an overlay of root's private repository is writable everywhere, and the host sees no change",
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

dockerTest(
  'a step that exceeds its memory limit is an infrastructure failure, even when its shell continues',
  async () => {
    const limits = { memoryBytes: 64 * 1024 * 1024, cpus: 2, pids: 64, diskBytes: 2 * 1024 ** 3 }
    const eat = 'node -e "const a=[];for(;;)a.push(Buffer.alloc(1e7,1))"'
    const ways = [eat, `${eat} | cat; true`].flatMap((command) =>
      [false, true].map((isForOneStep) => ({ command, isForOneStep })),
    )
    for (const { command, isForOneStep } of ways) {
      const { sandbox } = await open({ limits, ...(isForOneStep && { onlyStep: onlyStep(command) }) })
      expect((await runInSandbox(sandbox, command)).end).toMatchObject({
        kind: 'exceeded',
        limit: 'memory',
      })
    }
  },
)

dockerTest('an image without a shell is reported', async () => {
  const opening = await dockerEngine.open(requestFor({ image: noShellImage }))
  expect(opening).toMatchObject({
    kind: 'failed',
    failure: { type: 'container_creation', message: expect.stringContaining('has no shell') },
  })
})

dockerTest('a missing image is pulled, and a failed pull is reported', async () => {
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

dockerTest('an engine that does not exist is unavailable', async () => {
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

dockerTest('a cache target below /workspace creates no directory in the repository', async () => {
  const { repository, scratch } = await open()
  const source = join(scratch, 'cache')
  const opening = await dockerEngine.open(
    requestFor({
      repository,
      caches: [{ source, target: '/workspace/node_modules/.cache', writes: 'through' }],
    }),
  )
  if (opening.kind === 'open') await opening.sandbox.close()
  expect(existsSync(join(repository, 'node_modules'))).toBe(false)
  const writable = await open({ repository, caches: [{ source, target: '/cache', writes: 'through' }] })
  expect((await runInSandbox(writable.sandbox, 'echo kept > /cache/file')).end).toMatchObject({ exitCode: 0 })
  expect(readFileSync(join(source, 'file'), 'utf8')).toBe('kept\n')
})

dockerTest('the only step is the first process, and ends in every way as beside another one', async () => {
  const only = async (
    command: string,
    rest: Partial<SandboxStep> = {},
    wanted: Partial<SandboxRequest> = {},
  ) => {
    const { sandbox } = await open({ onlyStep: { ...onlyStep(command), ...rest }, ...wanted })
    return { sandbox, ...(await runInSandbox(sandbox, command, rest)) }
  }
  const quoted = await only(
    'read -r x; printf "%s|%s|%s\\n" "$x" "$A" "$HOME"; env | grep ^UID=; cat /proc/1/comm; (sleep 300 &)',
    {
      env: { A: "it's\n$HOME `id` \\", UID: '7' },
    },
  )
  expect(quoted).toMatchObject({
    end: { kind: 'exited', exitCode: 0 },
    output: "|it's\n$HOME `id` \\|/tmp/home\nUID=7\ndocker-init\n",
  })
  expect(await runInSandbox(quoted.sandbox, 'true')).toMatchObject({
    end: { kind: 'failed', failure: { message: expect.stringContaining('its only step has run') } },
  })
  expect(await only('kill -TERM 1; kill -KILL 1; sleep 1; exit 0')).not.toMatchObject({
    end: { exitCode: 0 },
  })
  expect(await only('echo begun; sleep 300', { timeoutMs: 1_000 })).toMatchObject({
    end: { kind: 'timed_out' },
  })
  const stop = new AbortController()
  const cancelled = await only('echo on; sleep 300', { signal: stop.signal, output: () => stop.abort() })
  expect(cancelled.end).toEqual({ kind: 'cancelled' })
  const limits = { memoryBytes: 512 * 1024 ** 2, cpus: 2, pids: 64, diskBytes: 20 * 1024 ** 2 }
  const disk = await only('head -c 400000000 /dev/zero > /tmp/big; sleep 300', {}, { limits })
  expect(disk.end).toMatchObject({ kind: 'exceeded', limit: 'disk' })
})

dockerTest('a callback that throws ends the step and is thrown', async () => {
  const { sandbox } = await open()
  const thrown = sandbox.run({
    command: 'echo x; sleep 300',
    env: {},
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    output: () => {
      throw new Error('the disk is full')
    },
  })
  await expect(thrown).rejects.toThrow('the disk is full')
})

function onlyStep(command: string): NonNullable<SandboxRequest['onlyStep']> {
  return { command, env: {}, timeoutMs: 60_000 }
}

function requestFor(wanted: Partial<SandboxRequest>): SandboxRequest {
  return sandboxRequest({ image, env, ...wanted })
}

function open(wanted: Partial<SandboxRequest> = {}): Promise<OpenedSandbox> {
  return openSandbox(dockerEngine, { image, env, ...wanted })
}
