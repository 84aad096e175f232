import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { claudeCode } from '../src/agents/claude-code/claude-code.ts'
import { codex } from '../src/agents/codex/codex.ts'
import { copilot } from '../src/agents/copilot/copilot.ts'
import { gemini } from '../src/agents/gemini/gemini.ts'
import { agentSchema } from '../src/agents/index.ts'
import { opencode } from '../src/agents/opencode/opencode.ts'
import { scriptSchema } from '../src/agents/scripted/schema.ts'
import { createProgram } from '../src/cli/program.ts'
import { configSchema } from '../src/config/schema.ts'
import { gateSchema, gates } from '../src/gates/index.ts'
import { rubricSchema } from '../src/judge/rubric.ts'
import { boundaryScriptSchema } from '../src/models/boundary/script/schema.ts'
import { pricesAsOf } from '../src/models/prices.ts'
import { modelScriptSchema } from '../src/models/scripted/provider.ts'
import { defaultModels } from '../src/models/select-model.ts'
import { scenariosFileSchema } from '../src/plugin/generate/scenarios-schema.ts'
import { hookExamplesSchema } from '../src/plugin/hook-lab/hook-examples.ts'
import { reporterNames } from '../src/report/index.ts'
import { scenarioSchema } from '../src/scenario/schema.ts'
import { agentFileSchema } from '../src/verifier/agent-file.ts'
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
} from './e2e/support/documents.ts'

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
  gitlab: z.record(z.string(), z.looseObject({ script: z.array(z.string()) })),
}

const everyCommand = await program()

test('every link in the documentation leads to an existing file and heading', () => {
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
    if (path !== 'docs/cli.md') expect(text.trimEnd().split('\n').at(-1)).toMatch(/^See also: \[/)
  }
})

test('the README lists every gate and stays one screen', () => {
  const { text } = readDocument('README.md')
  expect(gates.map(({ type }) => type).filter((type) => !text.includes(`\`${type}\``))).toEqual([])
  expect(text.split('\n').length).toBeLessThanOrEqual(80)
})

test('every YAML block is labelled and valid', () => {
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
      'docs/guard-settings.md',
      'docs/plugin-config.md',
      'docs/plugin.md',
    ],
    harness: ['docs/guard-settings.md'],
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

test('every driver has a section that names each of its keys, except shared ones', () => {
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

test('the date of the prices and the meaning of `default` are documented', () => {
  const { text } = readDocument('docs/models.md')
  for (const word of [pricesAsOf, ...Object.values(defaultModels)]) expect(text).toContain(word)
})

test('every reporter and every source folder is documented', () => {
  const reports = readDocument('docs/reports.md').text
  for (const name of reporterNames) expect(reports).toMatch(new RegExp(`^\\| \`${name}\` +\\|`, 'm'))
  const architecture = readDocument('ARCHITECTURE.md').text
  for (const room of readdirSync(join(root, 'src'), { withFileTypes: true }))
    expect(architecture).toContain(room.name)
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
