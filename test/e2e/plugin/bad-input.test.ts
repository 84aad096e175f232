import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Execution } from '../../../src/plugin/execute/contract.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { resumeRun } from '../../../src/store/resume-run.ts'
import { sampleExecution, sampleTranscript } from '../../support/plugin-samples.ts'
import { type GantryResult, gantry } from '../support/gantry.ts'
import { type Files, makeProject, type TestProject } from '../support/project.ts'
import { kitchen } from './kitchen.ts'
import { latestRun } from './lab.ts'

// No agent runs here: what an agent would have left behind is put into the run, and then things go wrong.
const ids = ['tea-1', 'bread-1']
const scenario = (id: string, component: string): object => ({
  id,
  component_type: 'skill',
  component_ref: component,
  user_prompt: `Something with ${component}, please.`,
})

let project: TestProject
afterEach(() => project?.[Symbol.dispose]())

interface Stored {
  readonly dir: string
  readonly id: string
  path(name: string): string
  read(name: string): string
  run(...argv: readonly string[]): Promise<GantryResult>
}

interface StoredOptions {
  readonly config?: object
  readonly files?: Files
  readonly change?: (execution: Execution) => Execution
}

/** A run whose two trials were made, and cost a cent each; judged when `evaluate` is asked for. */
async function storedRun({
  config = {},
  files = {},
  change = (it) => it,
}: StoredOptions = {}): Promise<Stored> {
  project = makeProject({
    ...kitchen('plugin'),
    'scenarios.yaml': { scenarios: [scenario('tea-1', 'brew-tea'), scenario('bread-1', 'bake-bread')] },
    'gantry.yaml': {
      agents: { real: { driver: 'claude-code', binary: './nobody' } },
      plugin: {
        plugin: { path: 'plugin' },
        scenarios: ['scenarios.yaml'],
        execution: { agent: 'real' },
        ...config,
      },
    },
    ...files,
  })
  expect(await plugin('generate', '--filter', 'tea-1', '--filter', 'bread-1')).toMatchObject({ code: 0 })
  const dir = latestRun(project)
  if (dir === null) throw new Error('there is no run')
  const stored: Stored = {
    dir,
    id: dir.split('/').at(-1) ?? '',
    path: (name) => join(dir, name),
    read: (name) => readFileSync(join(dir, name), 'utf8'),
    run: (...argv) => plugin(...argv.map((part) => (part === 'RUN' ? stored.id : part))),
  }
  for (const id of ids) {
    const trial = { id: `${id}.alone-1`, scenario_id: id, arm: 'alone' as const, rep: 1 }
    const skill = `kitchen:${id === 'tea-1' ? 'brew-tea' : 'bake-bread'}`
    const execution = sampleExecution({
      trial,
      scenario_id: id,
      detected_tools: [
        { name: 'Skill', input: { skill }, tool_use_id: 'call-1', timestamp: 1, success: true },
      ],
    })
    put(join(dir, 'trials', trial.id, 'execution.json'), change(execution))
    put(join(dir, 'transcripts', `${trial.id}.json`), sampleTranscript([{ user: 'Please.' }]))
  }
  changeFile(stored, 'state.json', (state) => ({ ...state, stage: 'execution' }))
  return stored
}

function plugin(...argv: readonly string[]): Promise<GantryResult> {
  return gantry(project, ['plugin', ...argv])
}

function put(path: string, value: unknown): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
}

function changeFile(run: Stored, name: string, change: (value: Record<string, unknown>) => unknown): void {
  put(run.path(name), change(JSON.parse(run.read(name))))
}

test('a run whose trials were made is judged without an agent, and judged again by resume', async () => {
  const run = await storedRun()
  expect(await run.run('evaluate', 'RUN')).toMatchObject({ code: 0 })
  expect(JSON.parse(run.read('state.json'))).toMatchObject({ stage: 'complete', lost_cost_usd: 0 })
  const inCi = ['--reporter', 'console', '--reporter', 'github', '-o', 'junit-xml:report.xml']
  for (const command of ['resume', 'report'])
    expect(await run.run(command, 'RUN', ...inCi)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('PASS'),
    })
  const prompt = 'Something with brew-tea, please.'
  expect(project.read('report.xml')).toContain(prompt)
  expect(JSON.parse(run.read('evaluation.json')).results[0].user_prompt).toBe(prompt)
})

interface Damage {
  readonly what: string
  readonly file: string
  /** null: the file is removed. */
  readonly content: string | ((value: Record<string, unknown>) => unknown) | null
  readonly code: number
  readonly says: RegExp
}

const damages: readonly Damage[] = [
  {
    what: 'a state that is cut',
    file: 'state.json',
    content: '{"run',
    code: 3,
    says: /state\.json is not valid JSON/,
  },
  {
    what: 'no state',
    file: 'state.json',
    content: null,
    code: 2,
    says: /has no state\.json.*\n.*gantry plugin list/,
  },
  {
    what: 'a state of a newer version',
    file: 'state.json',
    content: (state) => ({ ...state, schema_version: 9 }),
    code: 2,
    says: /newer Gantry.*\n.*Use that version/,
  },
  {
    what: 'a state of another run',
    file: 'state.json',
    content: (state) => ({ ...state, run_id: 'run_x' }),
    code: 2,
    says: /is the state of run run_x.*\nhint/,
  },
  {
    what: 'a state of another plugin',
    file: 'state.json',
    content: (state) => ({ ...state, plugin_name: 'garden' }),
    code: 2,
    says: /belongs to the plugin 'garden', but this run evaluates 'kitchen'.*\nhint/,
  },
  {
    what: 'a configuration that is cut',
    file: 'config.json',
    content: '{"config',
    code: 3,
    says: /config\.json is damaged.*\n.*start a new run/,
  },
  {
    what: 'no configuration',
    file: 'config.json',
    content: null,
    code: 3,
    says: /config\.json is missing.*\n.*start a new run/,
  },
  {
    what: 'a configuration of wrong types',
    file: 'config.json',
    content: (config) => ({ ...config, crowd: 5 }),
    code: 3,
    says: /config\.json is damaged/,
  },
  {
    what: 'scenarios that are cut',
    file: 'scenarios.json',
    content: '{"scen',
    code: 3,
    says: /scenarios\.json is damaged.*\n.*resume run_\S+ --from-stage generation/,
  },
  {
    what: 'scenarios that are none',
    file: 'scenarios.json',
    content: '{"scenarios":[5]}',
    code: 3,
    says: /scenarios\.json is damaged/,
  },
  {
    what: 'an empty scenarios file',
    file: 'scenarios.json',
    content: '{}',
    code: 3,
    says: /scenarios\.json is damaged/,
  },
  {
    what: 'the same scenario twice',
    file: 'scenarios.json',
    content: ({ scenarios, ...rest }) => ({
      ...rest,
      scenarios: [...(scenarios as object[]), ...(scenarios as object[])],
    }),
    code: 3,
    says: /scenarios\.json is damaged/,
  },
  {
    what: 'no scenarios',
    file: 'scenarios.json',
    content: null,
    code: 2,
    says: /the stage generation has not run.*\n.*--from-stage generation/,
  },
  {
    what: 'no analysis',
    file: 'analysis.json',
    content: null,
    code: 2,
    says: /the stage analysis has not run.*\n.*--from-stage analysis/,
  },
  {
    what: 'an analysis that is none',
    file: 'analysis.json',
    content: '{}',
    code: 3,
    says: /analysis\.json is damaged.*\n.*--from-stage analysis/,
  },
  {
    what: 'no trials',
    file: 'trials',
    content: null,
    code: 2,
    says: /has no trials to evaluate.*\n.*--from-stage execution/,
  },
]

test.each(damages)('$what is reported with a fix, and changes nothing', async (damage) => {
  const { file, content, code, says } = damage
  const run = await storedRun()
  if (content === null) rmSync(run.path(file), { recursive: true })
  else if (typeof content === 'string') put(run.path(file), content)
  else changeFile(run, file, content)
  const before = snapshot(run)
  const ended = await run.run('evaluate', 'RUN')
  expect(ended).toMatchObject({ code, stderr: expect.stringMatching(says) })
  expect(ended.stderr).not.toContain('bug:')
  expect(snapshot(run)).toEqual(before)
  expect(await run.run('list')).toMatchObject({ code: 0 })
})

/** The files of a run; the request itself is recorded elsewhere. */
function snapshot({ dir }: Stored): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter(
        (entry) => entry.isFile() && /^(?:state|config|analysis|scenarios|execution)\b/.test(entry.name),
      )
      .map((entry) => [
        join(entry.parentPath, entry.name),
        readFileSync(join(entry.parentPath, entry.name), 'utf8'),
      ]),
  )
}

test('a damaged analysis is fixed by running the analysis again', async () => {
  const run = await storedRun()
  put(run.path('analysis.json'), '{}')
  const ended = await run.run('resume', 'RUN', '--from-stage', 'analysis')
  // As far as without an agent.
  expect(ended.stderr).toContain("agent 'real' cannot be used")
  expect(JSON.parse(run.read('state.json'))).toMatchObject({ stage: 'analysis', lost_cost_usd: 0.02 })
})

test.each(['execution.json', 'transcript'])(
  'a trial whose %s was cut is made again by resume, and only judged invalid by evaluate',
  async (part) => {
    const run = await storedRun()
    put(
      run.path(part === 'transcript' ? 'transcripts/tea-1.alone-1.json' : `trials/tea-1.alone-1/${part}`),
      '{"me',
    )
    expect(await run.run('evaluate', 'RUN')).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('1 trial is invalid and is not counted.'),
    })
    const ended = await run.run('resume', 'RUN', '--progress', 'jsonl')
    expect(ended.stderr).toContain("agent 'real' cannot be used")
    expect(JSON.parse(run.read('state.json')).stage).toBe('generation')
  },
)

test('a trial that the machinery broke enters no rate, and is made again by resume of a run that was complete', async () => {
  const failure = { reason: 'unavailable' as const, message: 'gone' }
  const run = await storedRun({
    change: (execution) => (execution.scenario_id === 'tea-1' ? { ...execution, failure } : execution),
  })
  expect(await run.run('evaluate', 'RUN')).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/1 counted: 1 passed/),
  })
  expect(JSON.parse(run.read('state.json')).stage).toBe('complete')
  const ended = await run.run('resume', 'RUN')
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("agent 'real' cannot be used") })
  // Until it is made again nothing of it is thrown away.
  expect(existsSync(run.path('trials/tea-1.alone-1/execution.json'))).toBe(true)
})

test('a run with only invalid trials is not a success', async () => {
  const run = await storedRun({
    change: (execution) => ({ ...execution, invalid: 'the plugin did not load' }),
  })
  expect(await run.run('evaluate', 'RUN')).toMatchObject({ code: 2 })
})

test('a stage that is done again leaves nothing of the old trials, and what they cost is not forgotten', async () => {
  const run = await storedRun()
  await run.run('evaluate', 'RUN')
  await run.run('resume', 'RUN', '--from-stage', 'generation')
  expect(readdirSync(run.path('trials'))).toEqual([])
  for (const name of ['evaluation.json', 'transcripts', 'execution-metadata.json'])
    expect(existsSync(run.path(name)), name).toBe(false)
  expect(JSON.parse(run.read('state.json'))).toMatchObject({
    stage: 'analysis',
    undoing: null,
    lost_cost_usd: 0.02,
  })
})

test('a removal that a kill interrupted is finished first on resume, and counted once', async () => {
  const run = await storedRun()
  // One of the two was thrown away already.
  rmSync(run.path('trials/tea-1.alone-1'), { recursive: true })
  changeFile(run, 'state.json', (state) => ({
    ...state,
    stage: 'generation',
    undoing: 'execution',
    lost_cost_usd: 0.02,
  }))
  await run.run('resume', 'RUN')
  expect(readdirSync(run.path('trials'))).toEqual([])
  expect(JSON.parse(run.read('state.json'))).toMatchObject({ undoing: null, lost_cost_usd: 0.02 })
})

test('the cost of removed trials still counts', async () => {
  const run = await storedRun()
  changeFile(run, 'state.json', (state) => ({ ...state, lost_cost_usd: 0.5 }))
  await run.run('evaluate', 'RUN')
  expect(JSON.parse(run.read('evaluation.json')).summary.costs).toMatchObject({
    lost_cost_usd: 0.5,
    execution_cost_usd: 0.52,
    total_cost_usd: 0.52,
  })
  expect(JSON.parse(run.read('summary.json')).costUsd).toBeCloseTo(0.52)
})

test('a plugin that was changed since is not mixed with its older self', async () => {
  const run = await storedRun()
  rmSync(run.path('trials/tea-1.alone-1'), { recursive: true })
  project.write({ 'plugin/skills/brew-tea/SKILL.md': '---\nname: brew-tea\ndescription: Else.\n---\n' })
  expect(await run.run('resume', 'RUN')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/has changed since.*\n.*--from-stage analysis/),
  })
  expect(await run.run('evaluate', 'RUN')).toMatchObject({ code: 0 })
})

test('a run in progress is locked', async () => {
  const run = await storedRun()
  using _ = held(run)
  expect(await run.run('resume', 'RUN')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('is working on run'),
  })
})

function held({ id }: Stored): Disposable {
  const store = openStore({ env: {}, cwd: project.dir, root: project.store })
  const live = resumeRun(store, id)
  return { [Symbol.dispose]: () => live.release() }
}

const verdict = (summary: string): string =>
  JSON.stringify({
    triggered: true,
    trigger_accuracy: 'correct',
    quality_score: 8,
    response_relevance: 8,
    issues: [],
    highlights: [],
    summary,
  })

test('another judge is asked itself, and the first one is not paid twice', async () => {
  const judge = (word: string): object => ({
    answers: [{ match: 'kitchen', text: verdict(word) }],
  })
  const run = await storedRun({
    config: { evaluation: { detection_mode: 'llm_only', model: 'scripted:first.yaml' } },
    files: { 'first.yaml': judge('first'), 'second.yaml': judge('second') },
  })
  const summaries = (): unknown =>
    JSON.parse(run.read('evaluation.json')).results.map((result: { summary: string }) => result.summary)
  await run.run('evaluate', 'RUN')
  expect(summaries()).toEqual(['first', 'first'])
  project.write({ 'first.yaml': judge('asked again') })
  await run.run('evaluate', 'RUN')
  expect(summaries()).toEqual(['first', 'first'])
  // A script costs nothing: these are the answers of a judge that was paid.
  for (const path of readdirSync(run.path('trials'), { recursive: true, encoding: 'utf8' }))
    if (/checkpoint-judge/.test(path))
      changeFile(run, `trials/${path}`, (paid) => ({ ...paid, costUsd: 0.25 }))
  await run.run('evaluate', 'RUN', '--judge-model', 'scripted:second.yaml')
  expect(summaries()).toEqual(['second', 'second'])
  const { costs } = JSON.parse(run.read('evaluation.json')).summary
  expect(costs).toMatchObject({
    total_cost_usd: 0.02 + 2 * 0.25,
    evaluation_cost_usd: 0.5,
    lost_cost_usd: 0.5,
  })
  expect(JSON.parse(run.read('manifest.json')).totals.cost_usd).toBe(0.52)
})

test('a state of an older version goes on, and is kept as it was', async () => {
  const run = await storedRun()
  const older = {
    run_id: run.id,
    plugin_name: 'kitchen',
    stage: 'execution',
    config: { plugin: { path: project.path('plugin') } },
    executions: [{ scenario_id: 'tea-1' }],
  }
  put(run.path('state.json'), older)
  expect(await run.run('evaluate', 'RUN')).toMatchObject({ code: 0 })
  expect(JSON.parse(run.read('state.older.json'))).toEqual(older)
})

test('failures of one plugin are not tried again with another, and what did not fail not at all', async () => {
  const run = await storedRun()
  await run.run('evaluate', 'RUN')
  expect(await run.run('run', '--fast', '--failed-run', 'RUN')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/nothing failed.*\n.*--fast/),
  })
  changeFile(run, 'trials/tea-1.alone-1/execution.json', (execution) => ({
    ...execution,
    detected_tools: [],
  }))
  expect(await run.run('evaluate', 'RUN')).toMatchObject({ code: 1 })
  project.write({ 'other/.claude-plugin/plugin.json': '{"name":"other"}' })
  expect(await run.run('run', 'other', '--fast', '--failed-run', 'RUN')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is of the plugin 'kitchen', not of 'other'"),
  })
})

test('one broken plugin of a marketplace keeps no other from being tried', async () => {
  const run = await storedRun()
  project.write({
    ...kitchen('market/good'),
    'market/bad/.claude-plugin/plugin.json': '{',
    'market/notes/README.md': 'To come.',
    'market/.claude-plugin/marketplace.json': JSON.stringify({
      name: 'm',
      owner: { name: 'x' },
      plugins: [
        { name: 'bad', source: './bad' },
        { name: 'notes', source: './notes' },
        { name: 'kitchen', source: './good' },
        { name: 'kitchen', source: './good' },
        { name: 'far', source: { source: 'github', repo: 'a/b' } },
      ],
    }),
    'market.yaml': { marketplace: { path: 'market', evaluate_all: true } },
  })
  const before = readdirSync(join(run.dir, '..')).length
  const ended = await run.run('generate', '--config', 'market.yaml')
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('MANIFEST_PARSE_ERROR') })
  expect(ended.stdout).toContain('brew-tea-direct-1')
  expect(ended.stderr).toMatch(/^skipped notes: .*\/notes has no manifest and no components$/m)
  expect(ended.stderr).not.toContain('MANIFEST_NOT_FOUND')
  expect(readdirSync(join(run.dir, '..')).length).toBe(before + 1)
})

test('a model that answers with prose costs a warning, and the scenarios come from the plugin itself', async () => {
  const prose = {
    answers: [{ match: 'kitchen', text: 'I would rather talk about gardens.' }],
  }
  await storedRun({
    config: { generation: { model: 'scripted:prose.yaml', scenarios_per_component: 1 } },
    files: { 'prose.yaml': prose },
  })
  const ended = await plugin('generate', '--json')
  expect(ended.code).toBe(0)
  expect(ended.stdout).toContain('"fallback"')
})

interface Refusal {
  readonly what: string
  readonly argv: readonly string[]
  readonly says: RegExp
  readonly prepare?: () => void
}

const refusals: readonly Refusal[] = [
  {
    what: 'a directory that is no plugin',
    argv: ['analyze', 'empty'],
    says: /MANIFEST_NOT_FOUND.*\nhint/,
    prepare: () => mkdirSync(project.path('empty')),
  },
  { what: 'nothing at all', argv: ['analyze', 'nowhere'], says: /PATH_NOT_FOUND.*\nhint/ },
  { what: 'a dangerous path', argv: ['run', '/etc'], says: /PATH_DANGEROUS.*\nhint/ },
  {
    what: 'a link to a dangerous path',
    argv: ['run', 'link'],
    says: /PATH_DANGEROUS.*\nhint/,
    prepare: () => symlinkSync('/etc', project.path('link')),
  },
  {
    what: 'a filter that fits nothing',
    argv: ['generate', '--filter', 'zzz'],
    says: /the filter matches none of the \d+ scenarios\nhint: +The first ones are/,
  },
  { what: 'a run that is not there', argv: ['resume', 'run_none'], says: /there is no run.*\nhint/ },
  {
    what: 'a strict replay of nothing',
    argv: ['run', '--replay', 'strict'],
    says: /nothing was recorded.*\n.*--replay record/,
  },
]

test.each(refusals)('$what is refused with what to do', async ({ argv, says, prepare }) => {
  await storedRun()
  prepare?.()
  const ended = await plugin(...argv)
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(says) })
  expect(ended.stderr).not.toMatch(/gantry plugin resume/)
})
