import { spawn, spawnSync } from 'node:child_process'
import { lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAlive } from '../../test/support/is-alive.ts'
import {
  type LabOptions,
  plentiful,
  processesWith,
  runIn,
  sandboxLab,
} from '../../test/support/sandbox-lab.ts'
import { exec } from '../io/exec.ts'
import { treeHash } from '../io/tree-hash.ts'
import type { Sandbox, SandboxEngine, SandboxLimits, SandboxReport, SandboxStepEnd } from './contract.ts'

/** One escape attempt, one line of the corpus. */
interface Escape {
  readonly name: string
  readonly command: string
  /** Must be printed: proves that the attempt was made. */
  readonly says?: string
  /** Must not be printed. */
  readonly never?: string
  /** A program that the attempt needs; without it in the image the attempt is skipped. */
  readonly needs?: string
  readonly workspace?: 'overlay'
  readonly limits?: Partial<SandboxLimits>
  readonly timeoutMs?: number
  /** How the step may end; default `exited`. */
  readonly ends?: readonly SandboxStepEnd['kind'][]
  readonly failure?: string
  /** What the host finds afterwards, without following symlinks. */
  readonly artifact?: { readonly path: string; readonly is: 'link' | 'other' | 'not_setuid' }
  /** In the command line of a process that must be gone. */
  readonly gone?: string
  /** Engines that cannot prevent this, with a word that their shortfalls must then contain. */
  readonly not_held_by?: Readonly<Record<string, string>>
  /** Applies only when this limit is applied; otherwise the report must give the reason. */
  readonly not_held_by_limit?: keyof SandboxLimits
}

const corpus = readFileSync(join(import.meta.dirname, '../../test/corpus/sandbox/escapes.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Escape)

/** Tries every attempt of the corpus on an engine, and then checks that nothing on the host has changed. */
export function escapeCorpus(
  name: string,
  engine: SandboxEngine,
  options: LabOptions & {
    /** Programs that the image may lack; none when the machine's own are used. */
    readonly lacks?: readonly string[]
    /** Makes the attempts as a program of the caller with a writable repository, as far as they are not about the repository or the limits of steps. */
    readonly isWrapped?: boolean
    /** Each attempt in a sandbox of its own, which knows it before it is opened. */
    readonly isForOneStep?: boolean
  },
): void {
  describe(`nothing escapes from ${name}`, () => {
    const lab = sandboxLab(engine, options)
    const sentinel = spawn('sleep', ['86398.5'], { argv0: 'sentinel-on-the-host', stdio: 'ignore' })
    const servers: Server[] = []
    const reached: string[] = []
    const abstract = `gantry-lab-${process.pid}`
    const socket = join(lab.directory, 'host.sock')
    const sandboxes = new Map<string, Sandbox>()
    let before = ''
    let port = 0

    const listen = (where: Parameters<Server['listen']>[0], what: string): Promise<Server> =>
      new Promise((resolve) => {
        const server = createServer(() => reached.push(what)).listen(where, () => resolve(server))
        servers.push(server)
      })
    const stepOf = ({ command, timeoutMs = 15_000 }: Escape) => ({
      ...{ command, timeoutMs },
      env: {
        HOST_SECRET: lab.secret,
        HOST_PID: String(sentinel.pid),
        HOST_PORT: String(port),
        HOST_ABSTRACT: abstract,
        HOST_SOCKET: socket,
      },
    })
    const sandboxFor = async (attempt: Escape): Promise<Sandbox> => {
      const workspace = options.isWrapped === true ? 'writable' : (attempt.workspace ?? 'readonly')
      const limits = attempt.limits ?? {}
      const { isForOneStep = false } = options
      const key = JSON.stringify([workspace, limits, isForOneStep && attempt.name])
      const known = sandboxes.get(key)
      if (known !== undefined) return known
      const opened = await lab.open({
        workspace,
        limits: { ...plentiful, ...limits },
        ...(isForOneStep && { onlyStep: stepOf(attempt) }),
      })
      sandboxes.set(key, opened)
      return opened
    }

    beforeAll(async () => {
      const tcp = await listen({ port: 0, host: '127.0.0.1' }, 'tcp')
      const address = tcp.address()
      port = typeof address === 'object' && address !== null ? address.port : 0
      await listen({ path: `\0${abstract}` }, 'abstract')
      await listen({ path: socket }, 'file')
      spawnSync('chmod', ['0777', socket])
      before = await proofOf(lab.repository)
    })

    afterAll(async () => {
      sentinel.kill('SIGKILL')
      for (const server of servers) server.close()
      await lab[Symbol.asyncDispose]()
    })

    const attempts = options.isWrapped === true ? corpus.filter(isForPrograms) : corpus
    test.for(attempts.map((attempt) => [attempt.name, attempt] as const))(
      '%s',
      async ([, attempt], { skip }) => {
        if (attempt.needs !== undefined && options.lacks?.includes(attempt.needs))
          skip(`the image has no ${attempt.needs}`)
        const sandbox = await sandboxFor(attempt)
        const runAttempt = options.isWrapped === true ? runWrapped : runIn
        const { command, ...rest } = stepOf(attempt)
        const { end, output } = await runAttempt(sandbox, command, rest)
        const details = `${attempt.name}: ${JSON.stringify(end)}\n${output.slice(0, 2_000)}`
        expect(attempt.ends ?? ['exited'], details).toContain(end.kind)
        if (attempt.says !== undefined) expect(output, details).toContain(attempt.says)
        if (attempt.failure !== undefined && end.kind === 'failed')
          expect(end.failure.type, details).toBe(attempt.failure)
        const admitted = admits(attempt, sandbox.report, engine.name)
        if (attempt.never !== undefined && !admitted) expect(output, details).not.toContain(attempt.never)
        if (attempt.artifact !== undefined && !admitted)
          expect(foundAt(join(lab.artifacts, attempt.artifact.path), attempt.artifact.is)).toBe(true)
        if (attempt.gone !== undefined) expect(processesWith(attempt.gone), details).toEqual([])
        expect(isAlive(sentinel.pid ?? 0)).toBe(true)
        expect(readFileSync(lab.secret, 'utf8')).toBe('hidden-on-the-host\n')
        expect(readFileSync(join(lab.repository, 'sentinel.txt'), 'utf8')).toBe('untouched\n')
        expect(reached).toEqual([])
      },
    )

    test('the tree of the host is unchanged, and the checks of this suite can fail', async () => {
      expect(await proofOf(lab.repository)).toBe(before)
      for (const sandbox of sandboxes.values()) expect(await sandbox.close()).toEqual([])
      writeFileSync(join(lab.repository, 'sentinel.txt'), 'touched\n')
      expect(await proofOf(lab.repository)).not.toBe(before)
    })
  })
}

function isForPrograms({ name, workspace, limits, ends, gone }: Escape): boolean {
  const isOther = /workspace|repository|print without end/.test(name)
  return !isOther && [workspace, limits, ends, gone].every((each) => each === undefined)
}

const runWrapped: typeof runIn = async (sandbox, command, { env = {} } = {}) => {
  const argv = sandbox.wrap?.(['/bin/sh', '-c', command])
  if (argv === undefined) throw new Error('the engine has no command line for programs')
  const { exitCode, stdout, stderr } = await exec({ argv, cwd: '/', env })
  return { end: { kind: 'exited', exitCode: exitCode ?? -1 }, output: stdout.text + stderr.text }
}

/** The engine reports that it cannot prevent this, and the corpus expects it. */
function admits(attempt: Escape, { shortfalls, limits }: SandboxReport, engine: string): boolean {
  const word = attempt.not_held_by?.[engine]
  if (word !== undefined && shortfalls.some((shortfall) => shortfall.includes(word))) return true
  return attempt.not_held_by_limit !== undefined && limits[attempt.not_held_by_limit].kind === 'not_applied'
}

function foundAt(path: string, is: NonNullable<Escape['artifact']>['is']): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (is === 'not_setuid') return ((stats?.mode ?? 0) & 0o6000) === 0
  if (is === 'link') return stats?.isSymbolicLink() === true
  return stats !== undefined && !stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink()
}

/** Content and the .git directory: hooks and configuration are not part of a tree, but must not change either. */
async function proofOf(repository: string): Promise<string> {
  const inner = spawnSync(
    'sh',
    [
      '-c',
      'find .git -type f | sort | xargs sha256sum; stat -c "%a %u %Y %n" .git sentinel.txt private.txt .',
    ],
    {
      cwd: repository,
      encoding: 'utf8',
    },
  )
  // Reading the state of a repository may refresh its index, which is not a change.
  const lines = inner.stdout.split('\n').filter((line) => !line.endsWith('/index'))
  return JSON.stringify([(await treeHash(repository)).hash, lines])
}
