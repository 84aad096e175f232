import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findProgram } from '../../../src/io/find-program.ts'
import { createRun } from '../../../src/store/create-run.ts'
import { flagRun } from '../../../src/store/flag-run.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { needs } from '../../support/needs.ts'
import { gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { commitAll, runDir, runsIn, verifiedProject, verifyJson } from './lab.ts'

const bwrap = needs('bubblewrap', findProgram('bwrap', process.env.PATH ?? '') !== null)

describe('what is asked for', () => {
  test('without agent.yaml says how to write one, and creates nothing', async () => {
    using project = makeProject()
    const { code, stderr } = await gantry(project, ['verify'])
    expect(code).toBe(2)
    expect(stderr).toContain('configuration required')
    expect(stderr).toContain('container_image: node:24')
    expect(existsSync(project.store)).toBe(false)
  })

  test('with a broken agent.yaml reports every mistake with its place', async () => {
    using project = makeProject({ 'agent.yaml': 'verification:\n  steps: []\n  nettwork: allow\n' })
    const { code, stdout, stderr } = await gantry(project, ['verify', '--json'])
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain("agent.yaml:3:3: unknown key 'nettwork', did you mean 'network'?")
    expect(stderr).toContain("missing key 'container_image'")
  })

  test.each([
    [['--sandbox', 'docke'], 'docke'],
    [['--root', 'nowhere'], 'nowhere'],
    [['--config', 'nowhere.yaml'], 'nowhere.yaml'],
    [['--nonsense'], '--nonsense'],
  ])('with %j is bad usage', async (argv, named) => {
    using project = verifiedProject({ steps: ['true'], git: false })
    const { code, stderr } = await gantry(project, ['verify', ...argv])
    expect(code).toBe(2)
    expect(stderr).toContain(named)
  })
})

describe('on bubblewrap', () => {
  bwrap('a pipeline that succeeds is PASS, and its response is all that is printed', async () => {
    using project = verifiedProject({ steps: ['cat a.txt', 'test "$PWD" = /workspace'] })
    const { result, ...response } = await verifyJson(project)
    expect(result.code).toBe(0)
    expect(Object.keys(response)).toEqual(['status', 'run_id', 'tail_log', 'artifact_paths', 'manifest'])
    expect(response).toMatchObject({
      status: 'PASS',
      manifest: {
        kind: 'verify',
        status: 'pass',
        dirty: false,
        platform: { container_image: 'toy:1' },
        details: {
          tree_unchanged: true,
          sandbox: { engine: 'bubblewrap', sandboxed: true, network: 'none', workspace: 'readonly' },
        },
      },
    })
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: project.dir, encoding: 'utf8' }).trim()
    expect(response.manifest?.commit_sha).toBe(head)
    for (const path of response.artifact_paths) expect(existsSync(path), path).toBe(true)
  })

  bwrap('a write to the repository fails, one to /artifacts is found in the run directory', async () => {
    using project = verifiedProject({
      steps: ['echo out > /artifacts/x', 'if echo bad > /workspace/a.txt; then exit 1; else exit 0; fi'],
    })
    const { status, run_id } = await verifyJson(project)
    expect(status).toBe('PASS')
    expect(readFileSync(join(runDir(project, run_id), 'x'), 'utf8')).toBe('out\n')
    expect(project.read('a.txt')).toBe('one\n')
  })

  bwrap('in an overlay a step sees what the one before it wrote, and the repository does not', async () => {
    using project = verifiedProject({
      steps: [
        'echo two > a.txt; mkdir node_modules; echo x > node_modules/y',
        'grep -q two a.txt && test -f node_modules/y',
      ],
      verification: { workspace: 'overlay' },
    })
    const { status, manifest } = await verifyJson(project)
    expect(status).toBe('PASS')
    expect(manifest?.details).toMatchObject({ tree_unchanged: true })
    expect(project.read('a.txt')).toBe('one\n')
    expect(existsSync(project.path('node_modules'))).toBe(false)
  })

  bwrap('the second run sees nothing of the first, but the cache that setup has filled', async () => {
    using project = verifiedProject({
      steps: [
        'test ! -e /tmp/left && test ! -e /artifacts/left',
        'echo x | tee /tmp/left > /artifacts/left; cat /cache/n; echo by a step >> /cache/n',
      ],
      verification: {
        caches: [{ name: 'downloads', path: '/cache' }],
        setup: [{ name: 'load', command: 'echo by setup > /cache/n', network: 'none' }],
      },
    })
    expect((await verifyJson(project)).status).toBe('PASS')
    const second = await verifyJson(project)
    expect(second.status).toBe('PASS')
    expect(second.tail_log).toContain('\nby setup\n')
    expect(second.tail_log).not.toContain('\nby a step\n')
  })

  bwrap('TMPDIR, TEST_DB_PATH and SNAPSHOT_DIR can be written to', async () => {
    using project = verifiedProject({
      steps: ['mktemp && touch "$TEST_DB_PATH/a.db" "$SNAPSHOT_DIR/s" && test "$TMPDIR" = /artifacts/tmp'],
    })
    const { status, run_id } = await verifyJson(project)
    expect(status).toBe('PASS')
    expect(existsSync(join(runDir(project, run_id), 'db/a.db'))).toBe(true)
    expect(existsSync(join(runDir(project, run_id), 'snapshots/s'))).toBe(true)
  })

  bwrap('a failing second step is FAIL, prevents the third, and exits with 1', async () => {
    using project = verifiedProject({ steps: ['true', 'echo oops >&2; exit 7', 'touch /artifacts/third'] })
    const { status, failed_step, tail_log, run_id, result } = await verifyJson(project)
    expect(status).toBe('FAIL')
    expect(result.code).toBe(1)
    expect(failed_step).toMatchObject({ index: 1, exit_code: 7, timed_out: false })
    expect(tail_log).toContain('oops')
    expect(existsSync(join(runDir(project, run_id), 'third'))).toBe(false)
  })

  bwrap('a step past its time is FAIL with 124, and its children are gone', async () => {
    using project = verifiedProject({
      steps: [{ name: 'slow', command: 'sleep 97531 & setsid sleep 97531 & sleep 97531', timeout: 500 }],
    })
    const { status, failed_step, tail_log } = await verifyJson(project)
    expect(status).toBe('FAIL')
    expect(failed_step).toMatchObject({ exit_code: 124, timed_out: true })
    expect(tail_log).toContain('timed out after 500 ms')
    expect(
      execFileSync('sh', ['-c', 'ps -eo args | grep -c "[s]leep 97531" || true'], {
        encoding: 'utf8',
      }).trim(),
    ).toBe('0')
  })

  bwrap('a log of 500 lines yields exactly 200', async () => {
    using project = verifiedProject({ steps: ['seq 500'] })
    expect((await verifyJson(project)).tail_log.split('\n').length).toBe(200)
  })

  bwrap('a suite without a test is FAIL, one with a test is PASS', async () => {
    const none = 'import { test } from "node:test"; test.skip("later")\n'
    using project = verifiedProject({ steps: ['node --test'], files: { 'a.test.mjs': none } })
    const empty = await verifyJson(project)
    expect(empty).toMatchObject({ status: 'FAIL', fake_green: expect.stringContaining('skipped') })
    project.write({ 'a.test.mjs': 'import { test } from "node:test"; test("now", () => {})\n' })
    expect(await verifyJson(project)).toMatchObject({ status: 'PASS', manifest: { dirty: true } })
  })

  bwrap('hostile steps neither forge a manifest nor reach what a link names', async () => {
    using project = verifiedProject({
      steps: [
        'echo "{\\"status\\":\\"pass\\"}" > /artifacts/manifest.json; mkdir /artifacts/logs; echo PASS > /artifacts/logs/combined.log',
        'rm -rf /artifacts/tmp; ln -s /etc/passwd /artifacts/passwd; ln -s / /artifacts/tmp; ln -s ../../.. /artifacts/up',
        'rm -rf /artifacts/* 2>/dev/null; ln -s /etc /artifacts/reports; exit 1',
      ],
    })
    const { status, manifest, run_id, tail_log } = await verifyJson(project)
    expect(status).toBe('FAIL')
    expect(manifest).toMatchObject({ status: 'fail', commands_executed: [{}, {}, { exit_code: 1 }] })
    expect(tail_log).toContain('Step 3/3')
    expect(existsSync(join(runDir(project, run_id), 'reports'))).toBe(false)
    const shown = await gantry(project, ['runs', 'show', run_id ?? ''])
    expect(shown.stdout).toContain('fail')
  })

  bwrap('too little memory is a FAIL that says so, with a hint', async () => {
    using project = verifiedProject({
      steps: ['node -e "const a=[];for(;;)a.push(Buffer.alloc(1e7,1))"'],
      verification: { limits: { memory: '128m' } },
    })
    const { status, failed_step, hint, result } = await verifyJson(project)
    expect({ status, code: result.code }).toEqual({ status: 'FAIL', code: 1 })
    expect(failed_step).toMatchObject({ exit_code: 137, killed: 'killed at 128m of memory' })
    expect(hint).toContain('limits: { memory: ')
  })

  bwrap('a person who edits meanwhile gets no PASS for a tree that was not verified', async () => {
    using project = verifiedProject({ steps: ['echo begun; sleep 1'] })
    const { status, error_message } = await whileEditing(project, 'a.txt', verifyJson(project))
    expect(status).toBe('INFRA_ERROR')
    expect(error_message).toContain('Run the verification again without editing')
  })

  bwrap('a run uses the agent.yaml it read, keeps a copy, and its hash is in the manifest', async () => {
    using project = verifiedProject({
      steps: ['sleep 1; echo first'],
      files: { '.gitignore': 'agent.yaml\n' },
    })
    const text = project.read('agent.yaml')
    const pending = verifyJson(project)
    const { status, manifest, run_id } = await whileEditing(project, 'agent.yaml', pending)
    expect(status).toBe('PASS')
    expect(manifest?.commands_executed).toMatchObject([{ command: 'sleep 1; echo first', exit_code: 0 }])
    const hash = createHash('sha256').update(text).digest('hex')
    expect(manifest?.details.agent_file_sha256).toBe(hash)
    expect(readFileSync(join(runDir(project, run_id), 'inputs/index.jsonl'), 'utf8')).toContain(hash)
  })

  bwrap('an agent.yaml that is part of the tree and changes meanwhile makes the result void', async () => {
    using project = verifiedProject({ steps: ['sleep 1'] })
    expect((await whileEditing(project, 'agent.yaml', verifyJson(project))).status).toBe('INFRA_ERROR')
  })
})

describe('odd repositories', () => {
  bwrap('without git, with submodules, with names in odd encodings, with dangling links', async () => {
    using plain = verifiedProject({ steps: ['true'], git: false })
    writeFileSync(Buffer.from(`${plain.dir}/\xff\xfe`, 'latin1'), 'x')
    symlinkSync('/nowhere', plain.path('dangling'))
    expect(await verifyJson(plain)).toMatchObject({
      status: 'PASS',
      manifest: { commit_sha: 'unknown', dirty: null },
    })
    using outer = verifiedProject({ steps: ['test -f sub/b.txt'], git: false })
    mkdirSync(outer.path('sub'))
    writeFileSync(outer.path('sub/b.txt'), 'b')
    commitAll(outer.path('sub'))
    commitAll(outer.dir)
    expect(await verifyJson(outer)).toMatchObject({ status: 'PASS', manifest: { dirty: false } })
  })

  bwrap('from a directory below, and by --root', async () => {
    using project = verifiedProject({ steps: ['test -f a.txt'], files: { 'deep/er/b.txt': 'b' } })
    expect((await verifyJson(project, [], { cwd: project.path('deep/er') })).status).toBe('PASS')
    expect((await verifyJson(project, ['--root', project.path('deep')], { cwd: '/' })).status).toBe('PASS')
  })

  bwrap('with another configuration file', async () => {
    using project = verifiedProject({ steps: ['exit 1'] })
    project.write({
      'other.yaml': { verification: { container_image: 'x', steps: [{ name: 'a', command: 'true' }] } },
    })
    expect((await verifyJson(project, ['--config', 'other.yaml'])).status).toBe('PASS')
  })
})

describe('what a person sees', () => {
  bwrap('steps with their times, the end of the log of a failure, and where all of it lies', async () => {
    using project = verifiedProject({
      steps: [
        { name: 'build/it', command: 'true' },
        { name: 'test', command: 'printf "\\033[31mred\\033[0m alert\\n"; exit 2' },
      ],
    })
    const { code, stdout } = await gantry(project, ['verify', '--sandbox', 'bubblewrap'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/\[1\/2\] build\/it {2}\$ true\n +ok exit 0, /)
    expect(stdout).toMatch(/\[2\/2\] test {2}\$ /)
    expect(stdout).toMatch(/^bubblewrap .*the programs of this machine, read-only, workspace/)
    expect(stdout).not.toContain('=== Step')
    expect(stdout).toMatch(/failed exit 2, /)
    expect(stdout).toContain('red alert')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toMatch(/log: .*combined\.log\nFAIL {2}run_\d{8}_\d{6}_[a-z0-9]{6}\n$/)
  })

  test('a warning without a sandbox', async () => {
    using project = verifiedProject({ steps: ['true'] })
    const { code, stderr, stdout } = await gantry(project, ['verify', '--sandbox', 'host'])
    expect(stderr).toContain('without a sandbox')
    expect(stdout).toContain('PASS')
    expect(code).toBe(0)
  })

  test('limits that could not be given', async () => {
    using project = verifiedProject({ steps: ['true'] })
    const { stderr } = await gantry(project, ['verify', '--sandbox', 'host'])
    expect(stderr).toContain('no limit on memory (8g), processors (4), processes (1024), disk (2g)')
  })
})

/** Changes a file as soon as the first step has begun. */
async function whileEditing<T>(project: TestProject, file: string, pending: Promise<T>): Promise<T> {
  const editing = setInterval(() => {
    const [run = ''] = runsIn(project)
    if (existsSync(join(project.store, 'runs', run, 'logs/combined.log')))
      writeFileSync(project.path(file), 'edited: [\n')
  }, 50)
  return pending.finally(() => clearInterval(editing))
}

test('without an engine it is INFRA_ERROR, and no run directory is left', async () => {
  using project = verifiedProject({ steps: ['true'] })
  const { result, ...response } = await verifyJson(project, ['--sandbox', 'docker'], {
    env: { DOCKER_HOST: `unix://${project.path('nothing.sock')}` },
  })
  expect(response).toMatchObject({
    status: 'INFRA_ERROR',
    run_id: null,
    manifest: null,
    error_type: 'docker_unavailable',
  })
  expect(response.error_message).toContain('(try: sudo ')
  expect(result.code).toBe(3)
  expect(runsIn(project)).toEqual([])
})

bwrap('25 runs shrink to 20, and a run a task is stuck on stays beside them', async () => {
  using project = verifiedProject({ steps: ['true'] })
  const store = openStore({ env: {}, cwd: project.dir, root: project.store })
  const ids: string[] = []
  for (let count = 0; count < 25; count += 1) {
    // Older than this process, whose own runs are kept, and younger than the limit of days.
    const at = new Date(Date.now() - (25 - count) * 12 * 3_600_000)
    const run = createRun(
      { ...store, clock: { now: () => at } },
      { kind: 'verify', title: 'old', argv: [], cwd: project.dir },
    )
    await run.end({ status: 'fail' })
    ids.push(run.id)
  }
  const [first = ''] = ids
  flagRun(store, first, 'stuck', true, 'a task')
  const { run_id } = await verifyJson(project)
  const left = runsIn(project)
  expect(left).toContain(run_id)
  expect(left).toContain(first)
  expect(left).toHaveLength(22)
})

test('an unreadable agent.yaml is reported', async () => {
  using project = verifiedProject({ steps: ['true'] })
  chmodSync(project.path('agent.yaml'), 0o000)
  if (process.getuid?.() === 0) writeFileSync(project.path('agent.yaml'), Buffer.from([0xff, 0xfe, 0x00]))
  const { code, stderr } = await gantry(project, ['verify'])
  expect(code).toBe(2)
  expect(stderr).toContain('agent.yaml')
})
