import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { asNobody } from '../../support/as-nobody.ts'
import { needs } from '../../support/needs.ts'
import { program } from '../../support/program.ts'
import { commitAll, git } from '../plan/lab.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import {
  afterwards,
  aTask,
  envOf,
  letGo,
  makeRepository,
  runPath,
  startTask,
  sum,
  task,
  taskRun,
  tasks,
  tested,
  waitingRun,
  waitingStep,
  write,
} from './lab.ts'
import { openModel, type TestModel } from './model.ts'
import { treeOf } from './tree-of.ts'

const right = { edits: () => [sum('+'), tested()] }

test.concurrent.each([
  ['empty', '', /empty/],
  ['blank', ' \n\t ', /empty|blank/],
  ['of 10,001 characters', 'x'.repeat(10_001), /10,?000/],
  ['of 1 MB', 'x'.repeat(1_000_000), /10,?000/],
])('a task that is %s is refused before anything is queued', async (_, text, message) => {
  const project = makeRepository()
  const model = await openModel(right)
  const before = treeOf(project.dir)
  for (const how of ['run', 'submit']) {
    const { code, stderr, stdout } = await task(project, model, [how, '--sandbox', 'bubblewrap', text])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
    expect(stderr.length).toBeLessThan(2_000)
  }
  expect(await tasks(project)).toEqual([])
  expect(model.asked).toEqual([])
  expect(treeOf(project.dir)).toEqual(before)
})

test.concurrent('10,000 characters are a task; a short one is warned about; text comes by standard input, too', async () => {
  const project = makeRepository()
  const model = await openModel(right)
  const long = `Fix the sum. ${'é'.repeat(10_000)}`.slice(0, 10_000)
  const stdin = await byStdin(project, model, long)
  expect(stdin.code, stdin.stderr).toBe(0)
  expect((await tasks(project))[0]?.description).toBe(long)
  const huge = await byStdin(project, model, 'y'.repeat(1_000_000))
  expect([huge.code, huge.stdout]).toEqual([2, ''])
  expect(huge.stderr).toMatch(/10,?000/)
  const short = await task(project, model, ['submit', '--no-start', '--sandbox', 'bubblewrap', 'ab'])
  expect(short.code).toBe(0)
  expect(short.stderr).not.toBe('')
})

test.concurrent('all problems are reported at once', async () => {
  const project = makeProject({ 'a.txt': 'a\n' })
  afterwards(() => project[Symbol.dispose]())
  const env = { DOCKER_HOST: 'unix:///nonexistent/docker.sock' }
  const { code, stderr } = await task(project, null, ['run', '--sandbox', 'docker', '   '], { env })
  expect(code).toBe(2)
  for (const words of [
    'agent.yaml',
    'cannot proceed without model access',
    'ANTHROPIC_API_KEY',
    '/nonexistent/docker.sock',
  ])
    expect(stderr).toContain(words)
  expect(stderr).toMatch(/task: .*(empty|blank)/)
  const nowhere = await task(project, null, ['run', '--root', 'nowhere', aTask])
  expect(nowhere.code).toBe(2)
  expect(nowhere.stderr).toContain('nowhere')
})

test.concurrent.each([
  ['no verification', 'timeouts: {}\n', /verification/],
  ['no image', 'verification: { steps: [{ name: a, command: b }] }\n', /container_image/],
  ['no steps', 'verification: { container_image: a }\n', /steps/],
  ['an empty list of steps', 'verification: { container_image: a, steps: [] }\n', /must not be empty/],
  ['a step without a command', 'verification: { container_image: a, steps: [{ name: a }] }\n', /command/],
  [
    'a time that is none',
    'verification: { container_image: a, steps: [{ name: a, command: b }] }\ntimeouts: { scout_query: -1 }\n',
    /more than 0/,
  ],
  ['broken YAML', 'verification: [\n', /agent\.yaml:\d+:\d+/],
  [
    'an unknown key',
    'verification: { container_image: a, step: [], steps: [{ name: a, command: b }] }\n',
    /step/,
  ],
])('agent.yaml with %s is refused with what is wrong in it', async (_, text, message) => {
  const project = makeRepository({ files: { 'agent.yaml': text } })
  const model = await openModel()
  const { code, stderr } = await task(project, model, ['run', '--sandbox', 'bubblewrap', aTask])
  expect(code).toBe(2)
  expect(stderr).toContain('agent.yaml')
  expect(stderr).toMatch(message)
  expect(model.asked).toEqual([])
})

test.concurrent('a task goes on with the agent.yaml it began with, also after its worker was killed', async () => {
  const project = makeRepository({ steps: [waitingStep, 'sh check.sh'] })
  const model = await openModel(right)
  const held = model.hold('scout_b')
  const { child, ended } = startTask(project, model, ['run', '--sandbox', 'bubblewrap', aTask])
  await held
  project.write({ 'agent.yaml': 'not: valid\n' })
  child.kill('SIGKILL')
  await ended
  const working = task(project, model, ['work'])
  const run = await waitingRun(project)
  letGo(project, run)
  await working
  expect(await tasks(project)).toMatchObject([{ state: 'SUCCESS', run_ids: [run] }])
  expect(readFileSync(runPath(project, run, 'logs', 'combined.log'), 'utf8')).toContain('1 passed')
  expect(project.read('agent.yaml')).toBe('not: valid\n')
})

test.concurrent('a repository that changes while it is verified says nothing about the change', async () => {
  const project = makeRepository({ steps: [waitingStep] })
  const model = await openModel(right)
  const running = taskRun(project, model, ['--here'])
  const run = await waitingRun(project)
  project.write({ 'agent.yaml': 'not: valid\n' })
  letGo(project, run)
  const { end } = await running
  expect(end).toMatchObject({ state: 'INFRA_ERROR', attempts: 1 })
  expect(end.reason).toContain('changed while the steps ran')
  expect(project.read('agent.yaml')).toBe('not: valid\n')
})

test.concurrent('an Editor that rewrites agent.yaml or .git does not get away with it', async () => {
  const project = makeRepository()
  const model = await openModel({
    edits: (number) =>
      number === 1
        ? [
            write(
              'agent.yaml',
              'verification: { container_image: a, steps: [{ name: a, command: "true" }] }\n',
            ),
            {
              run: 'printf \'verification: { container_image: a, steps: [{ name: a, command: "true" }] }\\n\' > agent.yaml; echo x > .git/hooks/pre-commit',
            },
            tested(),
          ]
        : [sum('+')],
  })
  const before = project.read('agent.yaml')
  const run = await taskRun(project, model)
  expect(project.read('agent.yaml')).toBe(before)
  expect(existsSync(project.path('.git/hooks/pre-commit'))).toBe(false)
  expect(run.end).toMatchObject({ state: 'SUCCESS', attempts: 2 })
})

test.concurrent('a repository without git is warned about and works', async () => {
  const project = makeRepository({ git: false })
  const run = await task(project, await openModel(right), ['run', '--sandbox', 'bubblewrap', aTask])
  expect(run.code, run.stderr).toBe(0)
  expect(run.stderr).toContain('not a git repository')
  expect(run.stdout).toContain('gantry task apply')
  expect(run.stdout).not.toContain('gantry task commit')
  expect(existsSync(project.path('.git'))).toBe(false)
})

test.concurrent('submodules, a dirty tree, and names in odd encodings are worked with and kept', async () => {
  const inner = makeRepository({ files: { 'inner.txt': 'inner\n' } })
  const project = makeRepository()
  git(project, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'sub')
  commitAll(project)
  const odd = Buffer.from([...Buffer.from(`${project.dir}/latin1-`), 0xe9, ...Buffer.from('.txt')])
  writeFileSync(odd, 'odd\n')
  const names = [' lead', 'new\nline', '-dash', '"quote"', 'ünï', 'a\\b', '#hash', 'x'.repeat(200)]
  for (const name of names) writeFileSync(project.path(name), `${name}\n`)
  project.write({ 'check.sh': `${project.read('check.sh')}\n# dirty\n` })
  mkdirSync(project.path('empty'))
  const model = await openModel({
    edits: () => [
      sum('+'),
      tested(),
      write('sub/more.txt', 'more\n'),
      { run: 'mv -- "-dash" "- dash"; printf more >> "$(printf \'new\\nline\')"' },
    ],
  })
  const run = await taskRun(project, model, ['--with-changes'])
  expect(run.end, JSON.stringify(run.end)).toMatchObject({ state: 'SUCCESS' })
  expect(project.read('check.sh')).toContain('# dirty')
  expect(readFileSync(odd, 'utf8')).toBe('odd\n')
  expect(project.read('new\nline')).toBe('new\nline\nmore')
  expect(project.read('- dash')).toBe('-dash\n')
  expect(project.read('sub/inner.txt')).toBe('inner\n')
  expect(run.end.summary).toContain('src/add.js')
  // The new test was found next to a name that is not UTF-8, so no other test was requested.
  expect(model.count('editor')).toBe(2)
})

test.concurrent('step names with slashes and worse become harmless file names', async () => {
  const steps = [
    { name: '../../../escape', command: 'true' },
    { name: 'a/b\\c\n', command: 'sh check.sh' },
  ]
  const project = makeRepository({ steps })
  const model = await openModel(right)
  const run = await taskRun(project, model)
  expect(run.end).toMatchObject({ state: 'SUCCESS' })
  const [id = ''] = run.end.run_ids
  expect(existsSync(join(project.store, 'escape.log'))).toBe(false)
  expect(Object.keys(treeOf(runPath(project, id, 'logs'))).filter((name) => name.includes('/'))).toEqual([])
})

needs('another user to become', process.getuid?.() === 0).concurrent(
  'files that may not be read are reported, and nothing is lost',
  async () => {
    const project = makeRepository({ files: { 'secret.txt': 'secret\n' } })
    const model = await openModel(right)
    spawnSync('chown', ['-R', '65534:65534', project.dir, project.home])
    mkdirSync(project.store)
    spawnSync('chown', ['65534:65534', project.store])
    chmodSync(join(project.dir, '..'), 0o755)
    spawnSync('chown', ['root:root', project.path('secret.txt')])
    chmodSync(project.path('secret.txt'), 0o000)
    const result = await spawnedAs(asNobody(), project, model, ['run', '--sandbox', 'host', '--json', aTask])
    expect(result.stdout, result.stderr).toMatch(/"kind":"task_ended"/)
    expect(result.stdout).toContain('permission denied')
    expect(readFileSync(project.path('secret.txt'), 'utf8')).toBe('secret\n')
    expect([0, 3]).toContain(result.code)
  },
)

needs('a file system to fill', process.getuid?.() === 0).concurrent(
  'a full disk ends with an error that says so, and the queue goes on when there is room',
  async () => {
    const project = makeRepository()
    mkdirSync(project.store)
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', project.store]).status).toBe(0)
    afterwards(() => spawnSync('umount', ['--lazy', project.store]))
    const model = await openModel(right)
    const filler = join(project.store, 'filler')
    expect((await task(project, model, ['list'])).code).toBe(0)
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k'])
    const before = treeOf(project.dir)
    const full = await task(project, model, ['run', '--sandbox', 'bubblewrap', aTask])
    expect(full.code).toBe(3)
    expect(full.stderr + full.stdout).toMatch(/disk/i)
    expect(project.read('src/add.js')).toBe(before['src/add.js']?.replace(/^\d+ /, ''))
    spawnSync('mount', ['-o', 'remount,size=64m', project.store])
    spawnSync('rm', [filler])
    const run = await taskRun(project, model, ['Fix the sum again.'])
    expect(run.end, run.stderr).toMatchObject({ state: 'SUCCESS' })
  },
)

needs('a file system to fill', process.getuid?.() === 0).concurrent(
  'a disk that fills up in the middle of a task ends it as infrastructure, or leaves it to be taken up again',
  async () => {
    const project = makeRepository()
    mkdirSync(project.store)
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', project.store]).status).toBe(0)
    afterwards(() => spawnSync('umount', ['--lazy', project.store]))
    const model = await openModel({ edits: (number) => [sum('+'), tested(number)] })
    const held = model.hold('editor', 2)
    const { ended } = startTask(project, model, ['run', '--sandbox', 'bubblewrap', aTask])
    const release = await held
    const filler = join(project.store, 'filler')
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k'])
    release()
    const full = await ended
    expect(full.code, full.stdout + full.stderr).toBe(3)
    expect(full.stdout + full.stderr).toMatch(/space|disk/i)
    expect(project.read('src/add.js')).toContain('a - b')
    expect(full.stderr).not.toContain('bug:')
    spawnSync('mount', ['-o', 'remount,size=64m', project.store])
    spawnSync('rm', [filler])
    expect((await task(project, model, ['work'])).code).toBe(0)
    for (const each of await tasks(project)) expect(['SUCCESS', 'INFRA_ERROR']).toContain(each.state)
    const run = await taskRun(project, model, ['Fix the sum once more.'])
    expect(run.end, run.stderr).toMatchObject({ state: 'SUCCESS' })
  },
)

function byStdin(project: TestProject, model: TestModel, text: string) {
  return spawnedAs([], project, model, ['submit', '--no-start', '--sandbox', 'bubblewrap', '-'], text)
}

async function spawnedAs(
  as: readonly string[],
  project: TestProject,
  model: TestModel,
  argv: readonly string[],
  input = '',
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const [file = '', ...rest] = [...as, process.execPath, program, 'task', ...argv]
  const child = spawn(file, rest, {
    cwd: project.dir,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: project.home,
      AGENT_ARTIFACT_DIR: project.store,
      ...envOf(project, model),
    },
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      said[name] += piece
    })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const code = await new Promise<number | null>((settle) => child.on('close', settle))
  return { code, ...said }
}
