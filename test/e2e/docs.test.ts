import { execFile } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, normalize } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { findAgent } from '../../scripts/agent-cache.ts'
import { claudeCode } from '../../src/agents/claude-code/claude-code.ts'
import { codex } from '../../src/agents/codex/codex.ts'
import { copilot } from '../../src/agents/copilot/copilot.ts'
import { gemini } from '../../src/agents/gemini/gemini.ts'
import { agentSchema } from '../../src/agents/index.ts'
import { opencode } from '../../src/agents/opencode/opencode.ts'
import { scriptSchema } from '../../src/agents/scripted/schema.ts'
import { createProgram } from '../../src/cli/program.ts'
import { configSchema } from '../../src/config/schema.ts'
import { gateSchema, gates } from '../../src/gates/index.ts'
import { rubricSchema } from '../../src/judge/rubric.ts'
import { boundaryScriptSchema } from '../../src/models/boundary/script/schema.ts'
import { pricesAsOf } from '../../src/models/prices.ts'
import { modelScriptSchema } from '../../src/models/scripted/provider.ts'
import { defaultModels } from '../../src/models/select-model.ts'
import { scenariosFileSchema } from '../../src/plugin/generate/scenarios-schema.ts'
import { hookExamplesSchema } from '../../src/plugin/hook-lab/hook-examples.ts'
import { reporterNames } from '../../src/report/index.ts'
import { scenarioSchema } from '../../src/scenario/schema.ts'
import { agentFileSchema } from '../../src/verifier/agent-file-schema.ts'
import { needs } from '../support/needs.ts'
import {
  allDocuments,
  anchorsOf,
  type Fence,
  fencesOf,
  linksOf,
  mentionedCommandsOf,
  readDocument,
  root,
  shellCommandsOf,
} from './support/documents.ts'
import { gantry, gantryTest, startGantry } from './support/gantry.ts'
import { makeProject } from './support/project.ts'

const documents = [...allDocuments(), readDocument('examples/real-agent/README.md')]

/** What a fenced YAML block may claim to be. */
const kinds: Readonly<Record<string, z.ZodType>> = {
  scenario: scenarioSchema,
  gantry: configSchema,
  agent: agentFileSchema,
  gates: z.array(gateSchema),
  rubric: rubricSchema,
  'agent-script': scriptSchema,
  'model-script': modelScriptSchema,
  'boundary-script': boundaryScriptSchema,
  'plugin-scenarios': scenariosFileSchema,
  'plugin-hook-case': hookExamplesSchema,
  workflow: z.looseObject({ jobs: z.record(z.string(), z.unknown()) }),
}

const everyCommand = await program()

test('every link in the documentation leads to a file and a heading that are there', () => {
  const broken = documents.flatMap((document) =>
    linksOf(document)
      .filter((target) => !leadsSomewhere(document.path, target))
      .map((target) => `${document.path}: ${target}`),
  )
  expect(broken).toEqual([])
})

test('every page of docs/ can be reached from the README and ends with links to its neighbours', () => {
  const linked = linksOf(readDocument('README.md'))
  for (const { path, text } of documents.filter(({ path: name }) => name.startsWith('docs/'))) {
    expect(linked).toContain(path)
    if (path !== 'docs/cli.md') expect(text.trimEnd().split('\n').at(-1)).toMatch(/^Neighbours: \[/)
  }
})

test('every YAML block says what it is and is valid as that', () => {
  const blocks = documents.flatMap(fencesOf).filter(({ language }) => language === 'yaml')
  expect(blocks.length).toBeGreaterThan(15)
  expect(blocks.map(problemOf).filter((problem) => problem !== null)).toEqual([])
})

test('every gantry command line in a block parses', async () => {
  const lines = documents.flatMap(shellCommandsOf)
  expect(lines.length).toBeGreaterThan(10)
  for (const argv of lines) await expect(parsed(argv), argv.join(' ')).resolves.toBe('ok')
})

test('every gantry command mentioned in the text exists with its flags', () => {
  const mentioned = documents.flatMap((document) =>
    mentionedCommandsOf(document).map((argv) => ({ path: document.path, argv })),
  )
  expect(mentioned.length).toBeGreaterThan(20)
  const wrong = mentioned.filter(({ argv }) => unknownWords(argv).length > 0)
  expect(wrong.map(({ path, argv }) => `${path}: gantry ${argv.join(' ')}`)).toEqual([])
})

test('every flag mentioned beside a command belongs to some command', () => {
  const known = new Set(commands(everyCommand).flatMap(flagsOf))
  const names = [
    'scenarios',
    'configuration',
    'boundary',
    'guard',
    'plan',
    'verify',
    'models',
    'reports',
    'runs',
  ]
  const pages = ['README.md', ...names.map((name) => `docs/${name}.md`)]
  const unknown = pages.flatMap((path) =>
    [...readDocument(path).text.matchAll(/`(--[a-z][a-z-]*)[^`]*`/g)]
      .map(([, flag = '']) => flag)
      .filter((flag) => !known.has(flag) && flag !== '--help')
      .map((flag) => `${path}: ${flag}`),
  )
  expect(unknown).toEqual([])
})

test('every event of the log and every field of it is documented', () => {
  const [, log = ''] = readDocument('docs/agents.md').text.split('\n## Event log\n')
  const rows = log.split('\n')
  const missing = declaredEvents().flatMap(({ event, fields }) => {
    const row = rows.find((cells) => cells.startsWith(`| \`${event}\` `))
    return row === undefined
      ? [event]
      : fields.filter((field) => !row.includes(`\`${field}\``)).map((field) => `${event}.${field}`)
  })
  expect(declaredEvents().length).toBeGreaterThan(15)
  expect(missing).toEqual([])
})

test('every gate has a section with an example that shows its own keys', () => {
  const { text } = readDocument('docs/scenarios.md')
  const shared = sectionOf(text, 'Gates')
  for (const { type, schema } of gates) {
    const section = sectionOf(text, type)
    expect(section, type).toContain(`- type: ${type}`)
    for (const key of Object.keys(z.toJSONSchema(schema, { io: 'input' }).properties ?? {}))
      expect(section.includes(key) || shared.includes(`\`${key}\``), `${type}.${key}`).toBe(true)
  }
})

test('every key a user can write is documented', () => {
  const pages: Readonly<Record<string, readonly string[]>> = {
    scenario: ['docs/scenarios.md'],
    rubric: ['docs/scenarios.md'],
    gantry: [
      'docs/configuration.md',
      'docs/agents.md',
      'docs/scenarios.md',
      'docs/guard.md',
      'docs/plugin-config.md',
      'docs/plugin.md',
    ],
    harness: ['docs/guard.md'],
    agent: ['docs/verify.md'],
    'agent-script': ['docs/agents.md'],
    'boundary-script': ['docs/boundary.md'],
    plugin: ['docs/plugin-config.md', 'docs/plugin.md'],
    'plugin-scenarios': ['docs/plugin.md'],
    'plugin-hook-case': ['docs/plugin-hooks.md'],
  }
  for (const [name, paths] of Object.entries(pages)) {
    const text = paths.map((path) => readDocument(path).text).join('\n')
    const schema: unknown = JSON.parse(readFileSync(join(root, `schemas/${name}.schema.json`), 'utf8'))
    const missing = keysIn(schema).filter(
      (key) => key !== '$schema' && !new RegExp(`\\b${key}\\b`).test(text),
    )
    expect(missing, name).toEqual([])
  }
})

test('every driver has a section of its own that names each of its keys, or shares them with the others', () => {
  const { text } = readDocument('docs/agents.md')
  const shared = sectionOf(text, 'Keys that agents share')
  for (const { shape } of agentSchema.options) {
    const [driver = ''] = shape.driver.values
    const section = sectionOf(text, `driver: ${driver}`)
    expect(section, driver).toContain(`driver: ${driver}`)
    const silent = Object.keys(shape).filter(
      (key) => ![section, shared].some((words) => words.includes(`\`${key}\``)) && key !== 'driver',
    )
    expect(silent, driver).toEqual([])
  }
})

test('every agent is documented with how to get it and from which version on it is supported', () => {
  const rows = readDocument('docs/agents.md').text.split('\n')
  for (const { driver, install, supported } of [claudeCode, codex, copilot, gemini, opencode]) {
    const row = rows.find((cells) => cells.startsWith(`| \`${driver}\``)) ?? ''
    expect(row, driver).toContain(install)
    expect(row, driver).toContain(`${supported.from} up to ${supported.below.replace(/(\.0)+$/, '')}`)
  }
})

test('the date of the prices and what `default` stands for are documented', () => {
  const { text } = readDocument('docs/models.md')
  for (const word of [pricesAsOf, ...Object.values(defaultModels)]) expect(text).toContain(word)
})

test('curl gets the answer of the script, as the page about the boundary says', async () => {
  using project = makeProject()
  const section = {
    path: 'docs/boundary.md',
    text: sectionOf(readDocument('docs/boundary.md').text, 'By itself'),
  }
  const [ask, script, shown] = fencesOf(section)
  project.write({ 'ask.sh': ask?.text ?? '', 'hello.yaml': script?.text ?? '' })
  const serve = ['boundary', 'serve', '--script', 'hello.yaml', 'sh', 'ask.sh']
  expect(shown?.text).toContain(`$ gantry ${serve.join(' ')}\n`)
  const { stdout, stderr, code } = await startGantry(project, serve, { cwd: project.dir }).ended
  expect(code).toBe(0)
  expect(stdout).toContain('Hello from a file.')
  const printed = lines(stderr)
  for (const line of lines(shown?.text ?? '').filter((each) => /^(#1|1 exchange|claude)/.test(each)))
    expect(printed.map(withoutTime)).toContain(withoutTime(line))
})

test('every reporter and every room of the source is named where a reader looks for it', () => {
  const reports = readDocument('docs/reports.md').text
  for (const name of reporterNames) expect(reports).toMatch(new RegExp(`^\\| \`${name}\` +\\|`, 'm'))
  const architecture = readDocument('ARCHITECTURE.md').text
  for (const room of readdirSync(join(root, 'src'), { withFileTypes: true }))
    expect(architecture).toContain(room.name)
})

test.each(['README.md', 'docs/get-started.md'])('%s shows what the program really prints', async (page) => {
  using project = makeProject()
  let cwd = root
  for (const { text } of fencesOf(readDocument(page)).filter(({ language }) => language === 'console')) {
    let printed: string[] = []
    for (const line of text.trimEnd().split('\n')) {
      if (line.startsWith('$ cd ')) cwd = join(cwd, line.slice(5))
      else if (line.startsWith('$ gantry ')) printed = lines(await printedBy(line.slice(9).split(' '), cwd))
      else if (line !== '…' && line !== '') {
        const found = printed.indexOf(settled(line))
        expect(found, `${line}\n--- is not in what follows:\n${printed.join('\n')}`).not.toBe(-1)
        printed = printed.slice(found + 1)
      }
    }
  }
  async function printedBy(argv: readonly string[], where: string): Promise<string> {
    return (await startGantry(project, argv, { cwd: where, env: { PWD: where } }).ended).stdout
  }
})

test('the first example of the library runs', async () => {
  using project = makeProject()
  const [snippet] = fencesOf(readDocument('docs/library.md')).filter(({ language }) => language === 'ts')
  const library = pathToFileURL(join(root, 'src/index.ts')).href
  const file = project.path('use.mts')
  writeFileSync(file, snippet?.text.replace("from 'gantry'", `from ${JSON.stringify(library)}`) ?? '')
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    cwd: join(root, 'examples/jot'),
    env: { PATH: process.env.PATH ?? '', HOME: project.home, AGENT_ARTIFACT_DIR: project.store },
  })
  expect(stdout.match(/^pass /gm)?.length).toBe(7)
  expect(stdout).toContain(project.store)
})

test('the scenario that a newcomer writes has sound gates', async () => {
  using project = makeProject({ 'scenarios/first-steps/AGENTS.md': 'Use git.\n' })
  const [block] = fencesOf(readDocument('docs/get-started.md')).filter(({ mark }) => mark === 'scenario')
  project.write({ 'scenarios/first-steps.yaml': block?.text ?? '' })
  const { stdout, code } = await gantry(project, ['scenario', 'check', '--json'])
  expect(JSON.parse(stdout)).toMatchObject([{ sound: true, noop: { verdict: 'fail' } }])
  expect(code).toBe(0)
})

test.each(['jot', 'command-agent', 'guidance', 'real-agent'])(
  'the gates of the example %s are sound',
  async (name) => {
    using project = makeProject()
    const { code, stdout } = await gantry(project, ['scenario', 'check'], {
      cwd: join(root, 'examples', name),
    })
    expect(code, stdout).toBe(0)
  },
)

test('the example jot believes the careful agent and not the hasty one', async () => {
  using project = makeProject()
  const flags = ['--agent', 'careful,hasty', '--judge-model', 'scripted:judge.yaml']
  const { trials, code } = await gantryTest(project, flags, { cwd: join(root, 'examples/jot') })
  expect(code).toBe(1)
  expect(trials.length).toBe(6)
  for (const { agent, verdict } of trials) expect(verdict).toBe(agent === 'careful' ? 'pass' : 'fail')
})

test('the example command-agent passes as it is and behind its adapter, which tells more', async () => {
  using project = makeProject()
  const cwd = join(root, 'examples/command-agent')
  const { trials, code } = await gantryTest(project, ['--profile', 'both'], { cwd })
  expect(code).toBe(0)
  expect(trials).toMatchObject([
    { agent: 'plain', verdict: 'pass', metrics: { total_commands: 1, source: 'transcript' }, tokens: null },
    {
      agent: 'adapted',
      verdict: 'pass',
      metrics: { total_commands: 1, source: 'events' },
      tokens: { input: 812, output: 64 },
    },
  ])
  const priced = await gantryTest(project, ['--profile', 'priced'], { cwd })
  expect(priced.trials).toMatchObject([{ model: 'toy-1', verdict: 'pass' }])
  expect(priced.trials[0]?.costUsd).toBeCloseTo((812 * 3 + 64 * 15) / 1e6, 9)
})

const realAgent = join(root, 'examples/real-agent')

test('the example real-agent needs nothing but Gantry, and its replay needs not even the script', async () => {
  using project = makeProject()
  const cassettes = ['--cassettes', project.path('cassettes')]
  const flags = ['--agent', 'builtin', ...cassettes]
  const recorded = await gantryTest(project, [...flags, '--replay', 'record'], { cwd: realAgent })
  expect(recorded.trials).toMatchObject([{ agent: 'builtin', verdict: 'pass', costUsd: 0 }])
  project.write({ 'gantry.yaml': 'agents:\n  builtin: { driver: builtin }\n' })
  cpSync(join(realAgent, 'scenarios'), project.path('scenarios'), { recursive: true })
  cpSync(join(realAgent, 'fixtures'), project.path('fixtures'), { recursive: true })
  const replayed = await gantryTest(project, [...flags, '--replay', 'strict'])
  expect(replayed.trials).toMatchObject([{ agent: 'builtin', verdict: 'pass', costUsd: 0 }])
})

for (const { agent, id } of [
  { agent: 'claude', id: 'claude-code' },
  { agent: 'codex', id: 'codex' },
]) {
  const program = findAgent(id)?.program ?? null
  needs(id, program !== null)(`the example real-agent tells a repair by ${id} from a claim`, async () => {
    using project = makeProject()
    const PATH = [dirname(program ?? id), process.env.PATH].join(delimiter)
    const agents = agent === 'claude' ? 'claude,liar' : agent
    const { trials } = await gantryTest(project, ['--agent', agents], { cwd: realAgent, env: { PATH } })
    for (const trial of trials)
      expect(trial, trial.reason).toMatchObject({ verdict: trial.agent === 'liar' ? 'fail' : 'pass' })
  })
}

test('the adapter passes the exit code of its agent on', async () => {
  using project = makeProject({ 'toy-agent.sh': 'echo "no \\"luck\\""; exit 7\n' })
  const adapter = readFileSync(join(root, 'examples/command-agent/adapter.sh'), 'utf8')
  project.write({ 'adapter.sh': adapter })
  const failed = await promisify(execFile)('sh', [project.path('adapter.sh'), 'prompt', 'm']).catch(
    (error: { readonly code: number; readonly stdout: string }) => error,
  )
  expect(failed).toMatchObject({ code: 7 })
  expect(failed.stdout.trim().split('\n').map(parseJson)).toMatchObject([
    { event: 'session', model: 'm' },
    { event: 'message', text: 'no "luck"' },
  ])
})

test('the example guidance changes the wording only, and the metrics show the difference its README states', async () => {
  using project = makeProject()
  const cwd = join(root, 'examples/guidance')
  const [terse, shown] = ['terse', 'with-example'].map((name) =>
    scenarioSchema.parse(parse(readFileSync(join(cwd, `scenarios/${name}.yaml`), 'utf8'))),
  )
  expect(terse?.task).toEqual(shown?.task)
  expect(terse?.evaluation).toEqual(shown?.evaluation)
  const { summary, code } = await gantryTest(project, ['--tag', 'guidance'], { cwd })
  expect(code).toBe(0)
  const readme = readDocument('examples/README.md').text
  const rows = summary.cases.map(({ case: name, metrics }) => {
    const label = name.includes('terse') ? 'terse' : 'with an example'
    const percent = (share: number): string => `${Math.round(share * 100)} %`
    return `| ${label} | ${metrics.commands} | ${percent(metrics.errorRate)} | ${percent(metrics.firstTrySuccessRate)} | ${metrics.helpInvocations} |`
  })
  expect(rows.length).toBe(2)
  for (const row of rows) expect(readme).toContain(row)
})

function leadsSomewhere(from: string, target: string): boolean {
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? from : normalize(join(dirname(from), file))
  if (!existsSync(join(root, path))) return false
  if (anchor === undefined) return true
  return statSync(join(root, path)).isFile() && anchorsOf(readDocument(path)).includes(anchor)
}

function problemOf({ document, line, mark, text }: Fence): string | null {
  const schema = kinds[mark]
  if (schema === undefined) return `${document}:${line}: a YAML block is one of ${Object.keys(kinds)}`
  const result = schema.safeParse(parse(text))
  return result.success ? null : `${document}:${line}: ${z.prettifyError(result.error)}`
}

function program(): Promise<Command> {
  const silent = { write: () => {}, isTTY: false, columns: 100, color: false }
  const context = {
    cwd: root,
    env: {},
    stdout: silent,
    stderr: silent,
    signal: new AbortController().signal,
    setExitCode: () => {},
  }
  return createProgram(context)
}

function commands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commands)]
}

function flagsOf(command: Command): string[] {
  return command.options.flatMap(({ short, long }) => [short, long].filter((flag) => flag != null))
}

/** Parses a command line for real, and runs nothing. */
async function parsed(argv: readonly string[]): Promise<string> {
  const gantryProgram = await program()
  for (const command of commands(gantryProgram)) if (command.commands.length === 0) command.action(() => {})
  await gantryProgram.parseAsync([...argv], { from: 'user' })
  return 'ok'
}

/**
 * Words of a mention that name no command and no flag of it. Arguments and values are free, as is everything behind `--`;
 * `list|show` names two commands.
 */
function unknownWords(argv: readonly string[]): string[] {
  let command = everyCommand
  const unknown: string[] = []
  for (const word of argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)) {
    const named = word.split('|').map((name) => command.commands.find((each) => each.name() === name))
    const [first] = named
    if (first !== undefined && named.every((each) => each !== undefined)) command = first
    else if (word.startsWith('-')) {
      if (!['--help', '--version', ...flagsOf(command)].includes(word)) unknown.push(word)
    } else if (command.commands.length > 0) unknown.push(word)
  }
  return unknown
}

/** The events of `core/event.ts` with their fields, from the source, so that a new one cannot be forgotten. */
function declaredEvents(): { readonly event: string; readonly fields: readonly string[] }[] {
  const source = readFileSync(join(root, 'src/core/event.ts'), 'utf8')
  return [...source.matchAll(/interface \w+ extends Timed \{\n([\s\S]*?)\n\}/g)].map(([, body = '']) => ({
    event: /readonly event: '(\w+)'/.exec(body)?.[1] ?? '',
    fields: [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)]
      .map(([, field = '']) => field)
      .filter((field) => field !== 'event'),
  }))
}

/** From a heading to the next one of any level. */
function sectionOf(text: string, heading: string): string {
  const start = new RegExp(`^#+ ${heading}$`, 'm').exec(text)
  if (start === null) return ''
  const rest = text.slice(start.index + start[0].length)
  return rest.slice(0, /^#+ /m.exec(rest)?.index)
}

/** Every key of an object that the schema allows, at any depth. */
function keysIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own =
    'properties' in schema && typeof schema.properties === 'object'
      ? Object.keys(schema.properties ?? {})
      : []
  return [...new Set([...own, ...Object.values(schema).flatMap(keysIn)])]
}

function lines(text: string): string[] {
  return text.split('\n').map(settled)
}

/** A printed line without what differs between two runs: times, run ids, and the room they take. */
function settled(line: string): string {
  return line
    .replaceAll(/\b\d+(\.\d+)?(ms|s)\b/g, 'TIME')
    .replaceAll(/run_\d{8}_\d{6}_[a-z0-9]{6}/g, 'RUN')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function withoutTime(line: string): string {
  return line.replace(/, \d+ ms$/, '')
}

function parseJson(line: string): unknown {
  return JSON.parse(line)
}
