import { expect, test } from 'vitest'
import type { TrialRecord } from '../../../src/core/trial.ts'
import { defineAgent, defineGate, runScenarios } from '../../../src/index.ts'
import { gantry, gantryTest, onlyTrial, startGantry } from '../support/gantry.ts'
import { type SmallProject, smallProject, smallScenario, type TestProject } from '../support/project.ts'

const gate = `import { existsSync } from 'node:fs'
import { join } from 'node:path'
export default {
  type: 'is_done',
  needs: ['workspace_delta'],
  schema: (value) => {
    if (typeof value.path !== 'string') throw new Error('write the path')
    return value
  },
  async check({ path }, { workspace, delta }) {
    const { created } = await delta()
    return { passed: existsSync(join(workspace, path)), message: 'created ' + created.join() }
  },
}
`
const agent = `import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
export default {
  name: 'own',
  run({ workspace }) {
    writeFileSync(join(workspace, 'done.txt'), 'done')
    return 'Done.'
  },
}
`
const reporter = `export default {
  name: 'lines',
  open: ({ sink }) => ({ trialEnded: ({ verdict, agent }) => sink.write(verdict + ' by ' + agent + '\\n') }),
}
`

function ownProject(change: SmallProject = {}): TestProject {
  return smallProject({
    gates: [{ type: 'is_done', path: 'done.txt' }],
    config: {
      gates: ['./parts/gate.mjs'],
      agents: { own: { driver: 'module', module: './parts/agent.mjs' } },
    },
    ...change,
    files: {
      'parts/gate.mjs': gate,
      'parts/agent.mjs': agent,
      'parts/reporter.mjs': reporter,
      ...change.files,
    },
  })
}

test('the published program runs a gate, an agent and a reporter of the user', async () => {
  using project = ownProject()
  const { ended } = startGantry(project, ['test', '--reporter', './parts/reporter.mjs'])
  expect(await ended).toEqual({ code: 0, stdout: 'pass by own\n', stderr: '' })
})

test('a reporter of the user can write to a file, and again from the stored run', async () => {
  using project = ownProject()
  await gantry(project, ['test', '--reporter', './parts/reporter.mjs:out/lines.txt'])
  expect(project.read('out/lines.txt')).toBe('pass by own\n')
  const { stdout } = await gantry(project, ['runs', 'report', 'latest', '--reporter', './parts/reporter.mjs'])
  expect(stdout).toBe('pass by own\n')
})

test('a gate of the user sees what the agent changed, and its result is stored like any other', async () => {
  using project = ownProject()
  const { trials, code } = await gantryTest(project)
  expect(code).toBe(0)
  expect(trials[0]?.gates).toEqual([
    { type: 'is_done', passed: true, message: 'created done.txt', detail: {}, line: 10 },
  ])
})

test('plan, list, show, validate and check know the gate', async () => {
  using project = ownProject()
  for (const argv of [
    ['test', '--plan'],
    ['test', 'case', '--dry-run'],
    ['scenario', 'list'],
    ['scenario', 'show', 'case'],
    ['scenario', 'validate'],
    ['scenario', 'check'],
  ])
    expect((await gantry(project, argv)).code, argv.join(' ')).toBe(0)
})

test('a result is reused until the module changes', async () => {
  using project = ownProject()
  await gantryTest(project)
  expect(onlyTrial(await gantryTest(project)).cachedFrom).not.toBeNull()
  project.write({ 'parts/gate.mjs': gate.replace("'created '", "'made '") })
  expect(onlyTrial(await gantryTest(project))).toMatchObject({
    cachedFrom: null,
    gates: [{ message: 'made done.txt' }],
  })
  project.write({ 'parts/agent.mjs': `${agent}// changed\n` })
  expect(onlyTrial(await gantryTest(project)).cachedFrom).toBeNull()
})

test('a run goes on with the same module, and not with a changed one', async () => {
  using project = ownProject({
    files: {
      'parts/agent.mjs': `export default {
  name: 'own',
  run: ({ emit }) => emit({ event: 'error', reason: 'unavailable', message: 'try later' }),
}
`,
    },
  })
  const first = await gantryTest(project, ['--infra-retries', '0'])
  expect(onlyTrial(first)).toMatchObject({ verdict: 'infra', failure: 'unavailable' })
  const again = await gantry(project, ['test', '--resume', first.run_id, '--infra-retries', '0', '--json'])
  expect(JSON.parse(again.stdout)).toMatchObject({ run_id: first.run_id })
  project.write({ 'parts/gate.mjs': `${gate}// changed\n` })
  const refused = await gantry(project, ['test', '--resume', first.run_id])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('has changed') })
})

test('a gate that throws makes the trial invalid, and the agent is not blamed', async () => {
  using project = ownProject({
    files: {
      'parts/gate.mjs': "export default { type: 'is_done', schema: (v) => v, check() { return none } }\n",
    },
  })
  const { trials, summary } = await gantryTest(project)
  expect(trials).toMatchObject([
    { verdict: 'invalid', reason: 'the gate is_done threw ReferenceError: none is not defined' },
  ])
  expect(summary.counts).toMatchObject({ fail: 0, invalid: 1 })
})

test('a wrong configuration of the gate is reported at its line of the scenario', async () => {
  using project = ownProject({ gates: [{ type: 'is_done', pth: 'done.txt' }] })
  const { code, stderr } = await gantry(project, ['test'])
  expect(code).toBe(2)
  expect(stderr).toMatch(/scenarios\/case\.yaml:\d+:\d+: evaluation\.gates\[0\]: write the path/)
})

test('a scenario cannot name a module', async () => {
  using project = ownProject({
    config: { agents: { own: { driver: 'module', module: './parts/agent.mjs' } } },
    gates: [{ type: './parts/gate.mjs', path: 'done.txt' }],
  })
  const { code, stderr } = await gantry(project, ['test'])
  expect(code).toBe(2)
  expect(stderr).toMatch(/evaluation\.gates\[0\]\.type: expected one of 'command_succeeds'/)
})

test.each([
  [{ gates: ['./none.mjs'] }, /gantry\.yaml:\d+:\d+: the module \.\/none\.mjs does not exist/],
  [
    { agents: { own: { driver: 'module', module: './none.mjs' } } },
    /gantry\.yaml:\d+:\d+: .*\.\/none\.mjs does not exist/,
  ],
  [
    { agents: { own: { driver: 'module', modul: './a.mjs' } } },
    /unknown key 'modul', did you mean 'module'\?/,
  ],
])('%j is an error of gantry.yaml, before anything runs', async (config, message) => {
  using project = ownProject({ config, gates: [{ type: 'file_exists', path: 'done.txt' }] })
  const { code, stderr } = await gantry(project, ['test', '--agent', 'own'])
  expect(stderr).toMatch(message)
  if (stderr.includes('does not exist')) expect(stderr).toMatch(/hint: {2}Relative paths start at /)
  expect(code).toBe(2)
})

test.each([
  ['./none.js', 'the module ./none.js does not exist'],
  ['./parts/agent.mjs', "the default export of ./parts/agent.mjs is not a reporter: it has no 'open'"],
])('--reporter %s ends with exit code 2 and a hint', async (name, message) => {
  using project = ownProject()
  const { code, stderr } = await gantry(project, ['test', '--reporter', name])
  expect(stderr).toContain(message)
  expect(stderr).toContain('hint:')
  expect(code).toBe(2)
})

const badReporter = {
  'parts/reporter.mjs':
    "export default { name: 'bad', open: () => ({ trialEnded: () => nothing.at.all }) }\n",
}

test('a reporter that throws is named after the run, with the command that writes the report again', async () => {
  using project = ownProject({ files: badReporter })
  const { code, stderr } = await gantry(project, ['test', '--reporter', './parts/reporter.mjs'])
  expect(code).toBe(3)
  expect(stderr).toContain("the reporter 'bad' threw ReferenceError: nothing is not defined")
  const { manifest } = JSON.parse((await gantry(project, ['runs', 'show', 'latest', '--json'])).stdout)
  expect(manifest).toMatchObject({ status: 'pass' })
  expect(stderr).toContain(
    `Write the report again with: gantry runs report ${manifest.run_id} --reporter ./parts/reporter.mjs\n`,
  )
})

test('a reporter that throws does not change the exit code of a run that failed', async () => {
  using project = ownProject({ files: badReporter, gates: [{ type: 'is_done', path: 'other.txt' }] })
  expect(await gantry(project, ['test', '--reporter', './parts/reporter.mjs'])).toMatchObject({ code: 1 })
})

test('a module anywhere imports the program that runs it', async () => {
  using project = ownProject({
    files: {
      'parts/gate.mjs': `import { defineGate } from 'gantry'\n${gate.replace('export default {', 'export default defineGate({').replace(/\}\n$/, '})\n')}`,
      'parts/reporter.mjs': `import { GantryError, version } from 'gantry'
const open = () => { throw new GantryError('USAGE', 'version ' + version, { hint: 'of the module' }) }
export default { name: 'own', open }
`,
    },
  })
  expect(await startGantry(project, ['test']).ended).toMatchObject({ code: 0, stderr: '' })
  // Its GantryError is that of the program: a copy of the class would be reported as a bug.
  expect(await startGantry(project, ['test', '--reporter', './parts/reporter.mjs']).ended).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('hint:  of the module'),
  })
})

test('values passed to the library are used, and their results are never taken from the cache', async () => {
  using project = smallProject({ gates: [{ type: 'mine' }], config: { agents: {} } })
  let checks = 0
  const options = {
    env: { PATH: process.env.PATH, HOME: project.home, AGENT_ARTIFACT_DIR: project.store },
    gates: [
      defineGate({
        type: 'mine',
        check: (_, { toolUses }) => {
          checks += 1
          return { passed: toolUses.length === 1, message: 'one tool' }
        },
      }),
    ],
    agents: {
      own: defineAgent({
        name: 'own',
        run: ({ emit }) => {
          emit({ event: 'tool_call', id: '1', tool: 'Read', input: {} })
          emit({ event: 'tool_result', id: '1', output: '' })
        },
      }),
    },
  }
  for (const _ of [1, 2])
    expect((await runScenarios({ cwd: project.dir }, options)).summary).toMatchObject({ verdict: 'pass' })
  expect(checks).toBe(2)
  const clash = {
    ...options,
    gates: [defineGate({ type: 'script', check: () => ({ passed: true, message: '' }) })],
  }
  await expect(runScenarios({ cwd: project.dir }, clash)).rejects.toMatchObject({
    code: 'USAGE',
    message: "'gates' has an entry that cannot be used: the gate type 'script' is built in",
  })
})

test('nothing of the user is loaded by a command that does not need it', async () => {
  using project = ownProject({
    files: {
      'parts/gate.mjs': 'process.stdout.write("loaded")\n',
      'parts/agent.mjs': 'process.stdout.write("loaded")\n',
    },
  })
  for (const argv of [['--version'], ['runs', 'list'], ['guard', 'status']]) {
    const { stdout } = await startGantry(project, argv).ended
    expect(stdout, argv.join(' ')).not.toContain('loaded')
  }
})

test('an agent of the user can neither end the run, nor keep it open, nor break it with a stray error', async () => {
  const agents = {
    leaves: "setInterval(() => {}, 1_000); createServer().listen(0, '127.0.0.1')",
    exits: 'process.exit(0)',
    catches: 'try { process.exit(4) } catch {}; await new Promise(() => {})',
    rejects: "Promise.reject(new RangeError('too far')); await new Promise(() => {})",
    throws: "setTimeout(() => { throw new TypeError('no') }); await new Promise(() => {})",
    listens:
      "signal.addEventListener('abort', () => { throw new Error('again') }); Promise.reject(new Error('once'))",
  }
  using project = ownProject({
    config: {
      gates: ['./parts/gate.mjs'],
      agents: Object.fromEntries(
        Object.keys(agents).map((name) => [name, { driver: 'module', module: `./parts/${name}.mjs` }]),
      ),
    },
    files: Object.fromEntries(
      Object.entries(agents).map(([name, code]) => [
        `parts/${name}.mjs`,
        `import { createServer } from 'node:net'
import { writeFileSync } from 'node:fs'
export default { name: '${name}', async run({ workspace, signal }) { writeFileSync(workspace + '/done.txt', ''); ${code} } }
`,
      ]),
    ),
  })
  const { code, stdout, stderr } = await startGantry(project, [
    ...['test', '--json', '--timeout', '60s'],
    ...Object.keys(agents).flatMap((name) => ['--agent', name]),
  ]).ended
  const { trials, summary } = JSON.parse(stdout)
  expect(summary.counts).toMatchObject({ pass: 6 })
  const endOf = (name: string) => {
    const { ending, agentExitCode, warnings } = trials.find((trial: TrialRecord) => trial.agent === name)
    return [ending, agentExitCode, ...warnings]
  }
  expect(endOf('leaves')).toEqual(['exited', 0])
  expect(endOf('exits')).toEqual(['exited', 0, 'the agent called process.exit(0)'])
  expect(endOf('catches')).toEqual(['exited', 4, 'the agent called process.exit(4)'])
  expect(endOf('rejects')).toEqual([
    'crashed',
    null,
    'the agent left an error unhandled: RangeError: too far',
  ])
  expect(endOf('throws')).toEqual(['crashed', null, 'the agent left an error unhandled: TypeError: no'])
  expect(endOf('listens')).toEqual(['crashed', null, 'the agent left an error unhandled: Error: once'])
  expect(stderr).toContain('a module of yours left timers, sockets or files open')
  expect(code).toBe(0)
})

test('a stray error of a gate and a reporter that never ends are reported by name', async () => {
  const gates = {
    exits: 'process.exit(0)',
    rejects: "Promise.reject(new Error('lost')); return { passed: true, message: '' }",
    waits: 'await new Promise(() => {})',
  }
  using project = ownProject({
    config: {
      gates: ['./parts/gate.mjs'],
      agents: { own: { driver: 'module', module: './parts/agent.mjs' } },
    },
    files: {
      'parts/gate.mjs': `export default [${Object.entries(gates).map(
        ([type, code]) => `{ type: '${type}', async check() { ${code} } }`,
      )}]\n`,
      'parts/reporter.mjs': `export default { name: 'endless', open: () => ({ runEnded: () => new Promise(() => {}) }) }\n`,
      ...Object.fromEntries(
        Object.keys(gates).map((type) => [
          `scenarios/${type}.yaml`,
          smallScenario({ name: type, evaluation: { gates: [{ type }] } }),
        ]),
      ),
    },
    gates: [{ type: 'file_exists', path: 'done.txt' }],
  })
  const argv = ['test', '--reporter', './parts/reporter.mjs:out.txt', '--reporter', 'json:run.json']
  const { code, stderr } = await startGantry(project, argv).ended
  const { trials } = JSON.parse(project.read('run.json'))
  const reasons = trials.map(({ verdict, reason }: TrialRecord) => `${verdict}: ${reason}`).sort()
  expect(reasons).toEqual([
    'invalid: the gate exits called process.exit(0)',
    'invalid: the gate rejects left an error unhandled: Error: lost',
    'invalid: the gate waits never finishes: nothing that it waits for is left',
    expect.stringMatching(/^pass/),
  ])
  expect(stderr).toContain("the reporter 'endless' never finishes: nothing that it waits for is left")
  expect(code).toBe(2)
})
