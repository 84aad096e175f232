import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type PlainBehaviour, plainEngine } from '../../test/support/plain-engine.ts'
import { GantryError } from '../core/error.ts'
import { removeTree } from '../io/remove-tree.ts'
import { createRun } from '../store/create-run.ts'
import { openRun } from '../store/open-run.ts'
import { openStore } from '../store/open-store.ts'
import type { VerificationConfig, VerifierResponse, VerifyEvent } from './contract.ts'
import { verify } from './verify.ts'

let base = ''
let repository = ''
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-verify-')))
  repository = join(base, 'repository')
  mkdirSync(repository)
  writeFileSync(join(repository, 'a.txt'), 'one\n')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

type Step =
  | string
  | {
      readonly name?: string
      readonly command: string
      readonly timeoutMs?: number
      readonly network?: 'none' | 'allow'
    }

interface Attempt extends PlainBehaviour {
  readonly steps: readonly Step[]
  readonly config?: Partial<VerificationConfig>
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  readonly onEvent?: (event: VerifyEvent) => void
  readonly store?: string
}

async function attempt(options: Attempt) {
  const store = openStore({ env: {}, cwd: base, root: options.store ?? join(base, 'store') })
  const run = createRun(store, { kind: 'verify', title: 'verify', argv: [], cwd: repository })
  const engine = plainEngine(options)
  const events: VerifyEvent[] = []
  const config: VerificationConfig = {
    image: 'toy:1',
    steps: options.steps.map((step, index) => ({
      name: `step ${index + 1}`,
      timeoutMs: 600_000,
      ...(typeof step === 'string' ? { command: step } : step),
    })),
    workspace: 'readonly',
    network: 'none',
    limits: { memoryBytes: 1024 ** 3, cpus: 1, pids: 64, diskBytes: 2 * 1024 ** 3 },
    env: {},
    caches: [],
    ...options.config,
  }
  const pending = verify({
    repository,
    config,
    engine,
    run,
    env: options.env ?? {},
    signal: options.signal ?? new AbortController().signal,
    cachesDir: join(base, 'caches'),
    onEvent: (event) => {
      events.push(event)
      options.onEvent?.(event)
    },
  })
  const settled = await pending.then(
    (response) => ({ response, error: null }),
    (error: unknown) => ({ response: null, error }),
  )
  expect(engine.alive()).toBe(0)
  return { ...settled, dir: run.dir, runId: run.id, store, engine, events }
}

async function respond(options: Attempt) {
  const { response, error, ...rest } = await attempt(options)
  if (response === null) throw error
  return { response, ...rest, log: (name: string) => readFileSync(join(rest.dir, 'logs', name), 'utf8') }
}

const details = (response: VerifierResponse): Record<string, unknown> => ({ ...response.manifest?.details })

describe('a pipeline that succeeds', () => {
  test('is PASS with a manifest that shows what ran, on what, where', async () => {
    execFileSync('git', ['init', '-q'], { cwd: repository })
    execFileSync('git', ['add', '-A'], { cwd: repository })
    const identity = ['-c', 'user.name=n', '-c', 'user.email=n@example.com']
    execFileSync('git', [...identity, 'commit', '-qm', 'x'], { cwd: repository })
    const { response, runId, dir } = await respond({
      steps: ['echo one', { name: 'b', command: 'echo two >&2' }],
    })
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: repository, encoding: 'utf8' }).trim()
    expect(response).toMatchObject({ status: 'PASS', run_id: runId })
    expect(response).not.toHaveProperty('error_type')
    expect(response).not.toHaveProperty('failed_step')
    expect(response.manifest).toMatchObject({
      run_id: runId,
      kind: 'verify',
      status: 'pass',
      commit_sha: head,
      dirty: false,
      platform: { container_image: 'toy:1' },
      commands_executed: [
        { name: 'step 1', command: 'echo one', exit_code: 0, duration_ms: expect.any(Number) },
        { name: 'b', command: 'echo two >&2', exit_code: 0 },
      ],
      details: { verifier_status: 'PASS', tree_unchanged: true, sandbox: { sandboxed: false } },
    })
    const { tree_hash_before, tree_hash_after, evidence } = details(response)
    expect(tree_hash_before).toBe(tree_hash_after)
    expect(evidence).toMatchObject([
      { kind: 'other', command: 'echo one', exit_code: 0, tree_hash: tree_hash_before },
      { command: 'echo two >&2', exit_code: 0 },
    ])
    expect(JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))).toEqual(response.manifest)
  })

  test('reports that the tree differs from the commit', async () => {
    execFileSync('git', ['init', '-q'], { cwd: repository })
    const { response } = await respond({ steps: ['true'] })
    expect(response.manifest).toMatchObject({ commit_sha: 'unknown', dirty: true })
  })

  test('has one log per step and a combined one, each entry with number, name, command, output and exit code', async () => {
    const { log, response, dir } = await respond({ steps: ['printf "no newline"', 'echo b; echo c >&2'] })
    const first = '=== Step 1/2: step 1 ===\n$ printf "no newline"\n\nno newline\n--- exit code: 0 ---\n'
    const second = '=== Step 2/2: step 2 ===\n$ echo b; echo c >&2\n\nb\nc\n--- exit code: 0 ---\n'
    expect(log('step-01-step-1.log')).toBe(first)
    expect(log('step-02-step-2.log')).toBe(second)
    expect(log('combined.log')).toBe(`${first}\n${second}`)
    expect(response.tail_log).toBe(`${first}\n${second}`.trimEnd())
    expect(response.artifact_paths).toEqual(
      ['manifest.json', 'logs/combined.log', 'logs/step-01-step-1.log', 'logs/step-02-step-2.log'].map(
        (name) => join(dir, name),
      ),
    )
  })

  test('reports events as they happen, and writes the log before each event', async () => {
    const seen: string[] = []
    const { events, dir } = await respond({
      steps: ['echo one; echo two'],
      onEvent: (event) => {
        if (event.kind !== 'step_output') return
        const [run = ''] = readdirSync(join(base, 'store/runs'))
        seen.push(readFileSync(join(base, 'store/runs', run, 'logs/combined.log'), 'utf8'))
      },
    })
    expect(seen[0]).toContain('one\n')
    expect(events.map(({ kind }) => kind).filter((kind) => kind !== 'step_output')).toEqual([
      'sandbox_opened',
      'step_started',
      'step_ended',
    ])
    expect(readFileSync(join(dir, 'events.jsonl'), 'utf8')).toContain('"kind":"step_ended"')
  })
})

describe('a step', () => {
  test('gets existing writable directories, CI, and the variables of agent.yaml', async () => {
    const { response } = await respond({
      steps: [
        'test -d "$TMPDIR" && test -d "$TEST_DB_PATH" && test -d "$SNAPSHOT_DIR" && echo x > "$TMPDIR/f"',
        'test "$CI $A" = "true b"',
      ],
      config: { env: { A: 'b' } },
    })
    expect(response.status).toBe('PASS')
  })

  test('gets the variables of the contract', async () => {
    const places: Record<string, string>[] = []
    const engine = plainEngine()
    const open: typeof engine.open = async (request) => {
      const opening = await engine.open(request)
      if (opening.kind !== 'open') return opening
      const { sandbox } = opening
      return {
        kind: 'open',
        sandbox: {
          ...sandbox,
          run: (step) => {
            places.push({ ...step.env })
            return sandbox.run(step)
          },
        },
      }
    }
    const store = openStore({ env: {}, cwd: base, root: join(base, 'store') })
    const run = createRun(store, { kind: 'verify', title: 'v', argv: [], cwd: repository })
    const step = { name: 'a', command: 'true', timeoutMs: 1000 }
    const limits = { memoryBytes: 1, cpus: 1, pids: 1, diskBytes: 2 * 1024 ** 3 }
    const config: VerificationConfig = {
      image: 'x',
      steps: [step],
      workspace: 'readonly',
      network: 'none',
      limits,
      env: { CI: 'no', MINE: '1' },
      caches: [],
    }
    const signal = new AbortController().signal
    await verify({ repository, config, engine: { ...engine, open }, run, env: { PATH: '/x' }, signal })
    expect(places).toEqual([
      {
        CI: 'no',
        MINE: '1',
        TMPDIR: '/artifacts/tmp',
        TEST_DB_PATH: '/artifacts/db',
        SNAPSHOT_DIR: '/artifacts/snapshots',
      },
    ])
  })

  test('sees the caches of agent.yaml; only setup writes to them, and only a run that passes keeps it', async () => {
    const setup = (code: number) => [{ name: 'get', command: `echo ${code} > "$CACHE"`, timeoutMs: 600_000 }]
    const caches = [{ name: 'npm', path: '/c' }]
    const cache = join(base, 'caches/npm/file')
    const run = (code: number) => {
      const env = { CACHE: '' }
      return respond({
        steps: [`exit ${code}`],
        config: { caches, env, setup: setup(code) },
        onOpen: (request) => {
          env.CACHE = join(request.caches[0]?.source ?? '', 'file')
        },
      })
    }
    const first = await run(0)
    expect(first.engine.requests.map((request) => request.caches[0]?.writes)).toEqual(['through', 'aside'])
    expect(readFileSync(cache, 'utf8')).toBe('0\n')
    const failed = await run(1)
    expect(failed.response.status).toBe('FAIL')
    expect(failed.engine.requests[0]?.caches[0]?.source).not.toBe(join(base, 'caches/npm'))
    expect(readFileSync(cache, 'utf8')).toBe('0\n')
    expect(existsSync(join(base, 'caches/drafts', failed.runId))).toBe(false)
    const without = await respond({ steps: ['true'], config: { caches } })
    expect(without.engine.requests[0]?.caches).toEqual([
      { source: join(base, 'caches/npm'), target: '/c', writes: 'aside' },
    ])
  })

  test('setup has the network and steps have none; steps with another network get a sandbox of their own', async () => {
    const step = (name: string, network?: 'none' | 'allow' | 'host') => ({
      ...{ name, command: `echo ${name}`, timeoutMs: 600_000 },
      ...(network !== undefined && { network }),
    })
    const { engine, response, log } = await respond({
      steps: ['echo offline', { command: 'echo online', network: 'allow' }, 'echo last'],
      config: { setup: [step('install', 'allow'), step('more', 'allow')] },
    })
    expect(engine.requests.map(({ network }) => network)).toEqual(['allow', 'none', 'allow', 'none'])
    expect(engine.requests.map(({ layers = [], keep }) => [layers.length, keep !== undefined])).toEqual([
      [0, true],
      [1, true],
      [2, true],
      [3, false],
    ])
    expect(response.manifest?.commands_executed?.map(({ command }) => command)).toEqual([
      ...['echo install', 'echo more', 'echo offline', 'echo online', 'echo last'],
    ])
    expect(log('combined.log')).toContain('=== Step 5/5: step 3 ===')
  })
})

describe('a step that fails', () => {
  test('ends the run: the steps after it are not run', async () => {
    const { response, dir } = await respond({
      steps: ['true', 'echo bad; exit 3', 'echo never > /artifacts/x'],
    })
    expect(response).toMatchObject({
      status: 'FAIL',
      failed_step: { index: 1, name: 'step 2', command: 'echo bad; exit 3', exit_code: 3, timed_out: false },
    })
    expect(response).not.toHaveProperty('error_type')
    expect(response.manifest?.commands_executed.map(({ exit_code }) => exit_code)).toEqual([0, 3])
    expect(response.manifest?.status).toBe('fail')
    expect(response.tail_log).toContain('bad\n--- exit code: 3 ---')
    expect(existsSync(join(dir, 'x'))).toBe(false)
  })

  test('with a timeout is FAIL with exit code 124, whatever it started', async () => {
    const { response, log } = await respond({
      steps: [{ name: 'slow', command: 'echo begun; sleep 30 & sleep 30', timeoutMs: 300 }],
    })
    expect(response).toMatchObject({
      status: 'FAIL',
      failed_step: { exit_code: 124, timed_out: true },
    })
    expect(log('step-01-slow.log')).toMatch(
      /begun\n--- timed out after 300 ms: the step was ended ---\n--- exit code: 124 ---\n/,
    )
  })

  test('that executes no test is FAIL although it exits with 0', async () => {
    const { response } = await respond({
      steps: [{ command: 'echo "=== no tests ran in 0.01s ==="; : pytest' }, 'echo never'],
    })
    expect(response).toMatchObject({
      status: 'FAIL',
      fake_green: expect.stringContaining('no test was executed'),
      failed_step: { exit_code: 0, index: 0 },
    })
    expect(details(response)).toMatchObject({ fake_green: expect.stringContaining('no test') })
  })
})

describe('logs', () => {
  test('of 500 lines exactly the last 200 are returned', async () => {
    const { response } = await respond({ steps: ['seq 1 500'] })
    const lines = response.tail_log.split('\n')
    expect(lines.length).toBe(200)
    expect(lines.slice(-3)).toEqual(['499', '500', '--- exit code: 0 ---'])
  })

  test('with names that could be paths are next to each other, and the manifest keeps the names', async () => {
    const names = ['../../../escape', 'a/b', '🚀', 'n'.repeat(300), 'line\nbreak']
    const { response, dir } = await respond({ steps: names.map((name) => ({ name, command: 'true' })) })
    expect(readdirSync(join(dir, 'logs')).sort()).toEqual([
      'combined.log',
      'step-01-escape.log',
      'step-02-a-b.log',
      'step-03-unnamed.log',
      `step-04-${'n'.repeat(80)}.log`,
      'step-05-line-break.log',
    ])
    expect(response.manifest?.commands_executed.map(({ name }) => name)).toEqual(names)
    expect(response.tail_log).toContain('=== Step 5/5: line break ===')
  })

  test('contain no secret, in output, commands or names, even when it arrives in two pieces', async () => {
    const secret = 'hunter2-hunter2-hunter2'
    const { response, dir, events } = await respond({
      steps: [`printf hunter2-hun; sleep 0.2; echo ter2-hunter2; echo "$MY_TOKEN"; : ${secret}`],
      config: { env: { MY_TOKEN: secret } },
    })
    const everything = [
      JSON.stringify(response),
      JSON.stringify(events),
      ...['manifest.json', 'events.jsonl', 'logs/combined.log', 'logs/step-01-step-1.log'].map((name) =>
        readFileSync(join(dir, name), 'utf8'),
      ),
    ]
    expect(response.status).toBe('PASS')
    for (const text of everything) expect(text).not.toContain(secret)
  })

  test('of 100 MB are cut with a mark, and the end is kept', async () => {
    const { response, dir } = await respond({
      steps: ['head -c 100000000 /dev/zero | tr "\\0" "a" | fold -w 999; echo; echo the end'],
    })
    const path = join(dir, 'logs/step-01-step-1.log')
    expect(lstatSync(path).size).toBeLessThan(66 * 1024 * 1024)
    expect(readFileSync(path, 'latin1')).toMatch(/\n\[\.\.\. \d+ bytes cut \.\.\.\]\n/)
    expect(response.tail_log.split('\n').slice(-2)).toEqual(['the end', '--- exit code: 0 ---'])
    expect(response.tail_log.split('\n').length).toBe(200)
  })

  test('of one line of 30 MB stay bounded', async () => {
    const { response } = await respond({ steps: ['head -c 30000000 /dev/zero | tr "\\0" "a"'] })
    expect(response.status).toBe('PASS')
    expect(response.tail_log.length).toBeLessThan(20_000)
    expect(response.tail_log).toContain('characters cut')
  })

  test('can contain any bytes', async () => {
    const { response } = await respond({ steps: ["printf '\\377\\376\\0\\033[31mred\\r\\n'"] })
    expect(response.status).toBe('PASS')
    expect(response.tail_log).toContain('red')
  })
})

describe('files in /artifacts', () => {
  test('are in the run directory', async () => {
    const { response, dir } = await respond({ steps: ['echo hi > /artifacts/x; mkdir /artifacts/build'] })
    expect(readFileSync(join(dir, 'x'), 'utf8')).toBe('hi\n')
    expect(response.artifact_paths).toEqual(expect.arrayContaining([join(dir, 'x'), join(dir, 'build')]))
    expect(existsSync(join(dir, 'artifacts'))).toBe(false)
  })

  test('cannot forge a manifest or a log, and cannot redirect Gantry', async () => {
    const victim = join(base, 'victim')
    writeFileSync(victim, 'precious')
    const { response, dir, log } = await respond({
      steps: [
        'echo "{}" > /artifacts/manifest.json; echo "{}" > /artifacts/MANIFEST.JSON; echo "{}" > /artifacts/summary.json',
        `mkdir /artifacts/logs; ln -s ${victim} /artifacts/logs/combined.log; ln -s ${victim} /artifacts/logs/step-03-step-3.log`,
        `ln -s ${victim} /artifacts/lock; ln -s ${victim} /artifacts/events.jsonl; ln -s ${base} /artifacts/inputs`,
        `rm -rf /artifacts/tmp; ln -s ${base} /artifacts/tmp; ln -s ${victim} /artifacts/link`,
        'exit 1',
      ],
    })
    expect(response.status).toBe('FAIL')
    expect(response.manifest?.commands_executed.length).toBe(5)
    expect(readFileSync(victim, 'utf8')).toBe('precious')
    expect(log('combined.log')).toContain('Step 5/5')
    expect(lstatSync(join(dir, 'logs')).isSymbolicLink()).toBe(false)
    expect(existsSync(join(dir, 'summary.json'))).toBe(false)
    expect(lstatSync(join(dir, 'link')).isSymbolicLink()).toBe(true)
    expect(readdirSync(join(dir, 'artifacts')).sort()).toEqual(
      ['MANIFEST.JSON', 'events.jsonl', 'inputs', 'lock', 'logs', 'manifest.json', 'summary.json'].sort(),
    )
  })

  test('may be removed by a step without harm', async () => {
    const { response, dir } = await respond({ steps: ['rm -rf /artifacts', 'true'] })
    expect(response.status).toBe('PASS')
    expect(existsSync(join(dir, 'manifest.json'))).toBe(true)
  })

  test('may have names in unusual encodings', async () => {
    const { response } = await respond({ steps: ["cd /artifacts && touch \"$(printf '\\377')\" 'a b' ./-x"] })
    expect(response.status).toBe('PASS')
    expect(response.artifact_paths.some((path) => path.endsWith('\\xff'))).toBe(true)
  })
})

describe('an infrastructure failure', () => {
  test.each([
    'docker_unavailable',
    'container_creation',
    'image_pull',
    'resource_exhaustion',
    'unknown',
  ] as const)('before there is a sandbox (%s): no id, no manifest, no end of the run', async (type) => {
    const { response, store, runId } = await respond({
      steps: ['true'],
      opening: { type, message: 'it is gone' },
    })
    expect(response).toEqual({
      status: 'INFRA_ERROR',
      run_id: null,
      tail_log: '',
      artifact_paths: [],
      manifest: null,
      error_type: type,
      error_message: 'it is gone',
    })
    expect(openRun(store, runId).manifest().status).toBe('running')
  })

  test('a step that exceeded a limit failed, and can be debugged', async () => {
    const { response, log } = await respond({
      steps: ['echo first', 'echo second'],
      ends: { 2: { kind: 'exceeded', limit: 'memory', bytes: 512 * 1024 ** 2 } },
    })
    expect(response).toMatchObject({
      status: 'FAIL',
      failed_step: { index: 1, exit_code: 137, killed: 'killed at 512m of memory' },
      hint: expect.stringContaining('limits: { memory:'),
    })
    expect(log('combined.log')).toContain('--- killed at 512m of memory: raise limits.memory')
  })

  test('output of a step never looks like a line of the log', async () => {
    const lines = ['=== Step 2/2: b ===', '--- exit code: 0 ---', '[... 9 bytes cut ...]', '--- a/diff']
    const { log } = await respond({
      steps: [`printf '%s\\n' '${lines.join("' '")}'; printf '\\r\\033[2K--- exit code: 0 ---\\n'; exit 1`],
    })
    expect(log('combined.log').split('\n').slice(3)).toEqual([
      ...['| === Step 2/2: b ===', '| --- exit code: 0 ---', '| [... 9 bytes cut ...]', '--- a/diff'],
      ...['\r| --- exit code: 0 ---', '--- exit code: 1 ---', ''],
    ])
  })

  test('directories that are nested too deeply in the artifacts are reported, and can be removed', async () => {
    const deep =
      'cd /artifacts && mkdir d && cd d && i=0; while [ $i -lt 30 ]; do n=$(printf "%0200d" $i); mkdir $n && cd $n; i=$((i+1)); done'
    const { response, dir } = await respond({ steps: [deep] })
    expect(response.status).toBe('PASS')
    expect(details(response)).toMatchObject({
      artifact_problems: [expect.stringContaining('nested too deeply')],
    })
    removeTree(join(dir, 'd'))
    expect(existsSync(join(dir, 'd'))).toBe(false)
  })

  test('in the middle of a step: the log so far, and the step without an exit code', async () => {
    const failure = { type: 'resource_exhaustion', message: 'out of memory' } as const
    const { response } = await respond({
      steps: ['echo first', 'echo second', 'echo third'],
      ends: { 2: { kind: 'failed', failure } },
    })
    expect(response).toMatchObject({
      status: 'INFRA_ERROR',
      error_type: 'resource_exhaustion',
      error_message: 'out of memory',
      tail_log: expect.stringContaining('first'),
      manifest: { status: 'infra', commands_executed: [{ exit_code: 0 }, { exit_code: null }] },
    })
    expect(response.run_id).not.toBeNull()
    expect(response.tail_log).toContain('infrastructure error: resource_exhaustion: out of memory')
  })

  test('because an engine refuses the request: the error is thrown, and the lock is released', async () => {
    const refused = new GantryError('USAGE', 'never')
    const { error, store, runId } = await attempt({ steps: ['true'], opening: refused })
    expect(error).toBe(refused)
    expect(existsSync(join(store.runsDir, runId, 'lock'))).toBe(false)
  })

  test('that leaves something behind reports it', async () => {
    const { response, events } = await respond({
      steps: ['true'],
      notRemoved: ['container x is still there'],
    })
    expect(details(response)).toMatchObject({ not_removed: ['container x is still there'] })
    expect(events).toContainEqual({ kind: 'progress', text: 'container x is still there' })
  })
})

describe('the tree', () => {
  test.each(['true', 'false'])('that changed during the run makes the result void (%s)', async (last) => {
    const { response } = await respond({ steps: [`echo two > a.txt; ${last}`] })
    expect(response).toMatchObject({
      status: 'INFRA_ERROR',
      error_type: 'unknown',
      error_message: expect.stringContaining('changed while the steps ran'),
    })
    expect(details(response)).toMatchObject({ tree_unchanged: false })
    expect(response.manifest?.status).toBe('infra')
  })

  test('may contain the store itself', async () => {
    const { response } = await respond({ steps: ['true'], store: join(repository, '.runs') })
    expect(response.status).toBe('PASS')
  })

  test('may contain names in unusual encodings, links, submodules and no git', async () => {
    writeFileSync(Buffer.from(`${repository}/\xff`, 'latin1'), 'x')
    symlinkSync('/nowhere', join(repository, 'dangling'))
    mkdirSync(join(repository, 'sub'))
    execFileSync('git', ['init', '-q', 'sub'], { cwd: repository })
    const { response } = await respond({ steps: ['true'] })
    expect(response).toMatchObject({ status: 'PASS', manifest: { commit_sha: 'unknown', dirty: null } })
  })
})

/** Root can read everything, so the test runs as another user. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work()
  for (const path of [base, repository]) chownSync(path, 65_534, 65_534)
  process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

test.each([true, false])('an unreadable file is named, and there is no result (git: %s)', async (isGit) => {
  writeFileSync(join(repository, 'closed.txt'), 'x', { mode: 0o000 })
  if (isGit) execFileSync('git', ['init', '-q'], { cwd: repository })
  const { response, runId } = await asNobody(() => respond({ steps: ['true'] }))
  expect(response).toMatchObject({
    status: 'INFRA_ERROR',
    run_id: runId,
    error_type: 'unknown',
    error_message: expect.stringContaining('cannot be read completely'),
    manifest: { status: 'infra', commands_executed: [] },
  })
})

test('a full disk while the log is written is resource_exhaustion', async () => {
  const { response } = await respond({
    steps: ['yes', 'true'],
    onEvent: ({ kind }) => {
      if (kind === 'step_output') throw new GantryError('NO_SPACE', 'no space left on the disk')
    },
  })
  expect(response).toMatchObject({ status: 'INFRA_ERROR', error_type: 'resource_exhaustion' })
})

describe('cancelling', () => {
  test('in a step ends everything, ends the run as interrupted, and throws', async () => {
    const controller = new AbortController()
    const { error, store, runId } = await attempt({
      steps: ['echo begun; sleep 30', 'true'],
      signal: controller.signal,
      onEvent: ({ kind }) => kind === 'step_output' && controller.abort(),
    })
    expect(error).toMatchObject({ code: 'INTERRUPTED' })
    const manifest = openRun(store, runId).manifest()
    expect(manifest).toMatchObject({ status: 'interrupted', commands_executed: [{ exit_code: null }] })
  })

  test('while the sandbox opens does the same', async () => {
    const { error, store, runId } = await attempt({ steps: ['true'], opening: 'cancelled' })
    expect(error).toMatchObject({ code: 'INTERRUPTED' })
    expect(openRun(store, runId).manifest().status).toBe('interrupted')
  })
})

test('a log directory without write access is not a PASS', async () => {
  chmodSync(repository, 0o755)
  const { error, response } = await attempt({
    steps: ['true'],
    onEvent: ({ kind }) => {
      if (kind !== 'sandbox_opened') return
      const [run = ''] = readdirSync(join(base, 'store/runs'))
      // A foreign file in the place of a log is not written to.
      symlinkSync(join(base, 'elsewhere'), join(base, 'store/runs', run, 'logs/step-01-step-1.log'))
    },
  })
  expect(response?.status ?? error).not.toBe('PASS')
  expect(existsSync(join(base, 'elsewhere'))).toBe(false)
})
