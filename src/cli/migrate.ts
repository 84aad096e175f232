import { basename, dirname, join, resolve } from 'node:path'
import { Command } from 'commander'
import pc from 'picocolors'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { exitCode } from '../core/exit-code.ts'
import { directoriesIn } from '../io/directory.ts'
import { entryKind, isDirectory, isFile } from '../io/path-kind.ts'
import { readShortText } from '../io/read-short-text.ts'
import { plainLine } from '../report/plain-text.ts'
import type { CliContext } from './context.ts'
import { printValidations } from './scenario/validate.ts'

interface MigrateFlags {
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly json?: boolean
}

export function migrateCommand(context: CliContext): Command {
  return new Command('migrate')
    .argument('[dir]', 'the project (default: the working directory)')
    .option('--dry-run', 'print the file and write nothing')
    .option('--force', 'replace a gantry.yaml that exists')
    .option('--json', 'print JSON')
    .action((dir: string | undefined, flags: MigrateFlags) => runMigrate(dir, flags, context))
}

interface OldFile {
  readonly file: string
  /** Part of gantry.yaml. Empty when the file is read as it is. */
  readonly config: Readonly<Record<string, unknown>>
  readonly becomes: string
  readonly notes: readonly string[]
}

/** Writes a gantry.yaml with the settings of the tools that Gantry follows. Old files and scenarios stay as they are. */
async function runMigrate(dir: string | undefined, flags: MigrateFlags, context: CliContext): Promise<void> {
  const root = resolve(context.cwd, dir ?? '.')
  if (!isDirectory(root)) throw new GantryError('NOT_FOUND', `${root} is not a directory`)
  const { originalFixtures, scenarioPlaces } = await import('../config/convert-config.ts')
  const old = [
    await readToml(root),
    await readPluginConfig(root),
    await readHarness(root),
    ...(await readAsTheyAre(root)),
  ].filter((file) => file !== null)
  const hasScenarios = isDirectory(join(root, originalFixtures))
  if (old.length === 0 && !hasScenarios)
    throw new GantryError('NOT_FOUND', `${root} has nothing to migrate`, {
      hint: 'Looked for llm-tool-test-config.toml, llm-test-fixtures/, config.yaml of cc-plugin-eval, harness.json and agent.yaml. Name the directory that has them.',
    })
  const path = join(root, 'gantry.yaml')
  const config = Object.assign(
    {},
    hasScenarios && scenarioPlaces(originalFixtures),
    ...old.map((file) => file.config),
  )
  const text = await configText(config, old)
  const isNeeded = Object.keys(config).length > 0
  const project = await projectOf(text, path)
  const isThere = ['gantry.yaml', 'gantry.yml']
    .map((name) => join(root, name))
    .find((name) => entryKind(name) !== null)
  const isWritten = isNeeded && flags.dryRun !== true
  if (isWritten && isThere !== undefined && flags.force !== true)
    throw new GantryError('USAGE', `${isThere} exists already`, {
      hint: 'Print the settings with --dry-run and copy what you need, or replace the file with --force.',
    })
  const { validateIn } = await import('../scenario/validate.ts')
  const hasOwnScenarios = config.scenarios !== undefined
  const scenarios = hasOwnScenarios
    ? await validated(() => validateIn(project, [], root, context.env, { elsewhere: true }))
    : []
  if (isWritten) {
    const { writeFileAtomic } = await import('../io/files.ts')
    writeFileAtomic(isThere ?? path, text)
  }
  if (scenarios.some(({ problem }) => problem !== null)) context.setExitCode(exitCode.usage)
  const place = isThere ?? path
  if (flags.json === true) {
    const from = old.map(({ file, becomes, notes }) => ({ file, becomes: becomes || null, notes }))
    const written = { file: isNeeded ? place : null, written: isWritten, text: isNeeded ? text : null }
    return context.stdout.write(`${JSON.stringify({ ...written, from, scenarios }, null, 2)}\n`)
  }
  const { stdout } = context
  const { green, dim } = pc.createColors(stdout.color)
  for (const { file, becomes, notes } of old) {
    stdout.write(`${green('read')} ${file}${becomes === '' ? '' : dim(` -> ${becomes}`)}\n`)
    for (const note of notes) stdout.write(`     ${plainLine(note)}\n`)
  }
  printValidations(scenarios, context)
  if (!isNeeded) stdout.write('Nothing to write: these files are read as they are.\n')
  else if (!isWritten) stdout.write(`\n${dim(`# ${place} (not written)`)}\n${text}`)
  else stdout.write(`${isThere === undefined ? 'Wrote' : 'Replaced'} ${place}. Nothing else was changed.\n`)
}

async function readToml(root: string): Promise<OldFile | null> {
  const file = join(root, 'llm-tool-test-config.toml')
  if (!isFile(file)) return null
  const { fromLlmToolTest, originalFixtures } = await import('../config/convert-config.ts')
  const { parse, TomlError } = await import('smol-toml')
  let value: unknown
  try {
    value = parse(readShortText(file, 1_000_000) ?? '')
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause
    const [message = ''] = cause.message.split('\n')
    const at = { file, line: cause.line, column: cause.column }
    throw new GantryError('INVALID_FILE', message, { at, cause })
  }
  const usual = isDirectory(join(root, originalFixtures)) ? originalFixtures : 'fixtures'
  const converted = fromLlmToolTest(value, file, usual)
  return { file, becomes: Object.keys(converted.config).join(', '), ...converted }
}

async function readPluginConfig(root: string): Promise<OldFile | null> {
  const { findUsualConfig, readConfigFile } = await import('../plugin/config/read-config-file.ts')
  const file = findUsualConfig(root)
  if (file === null) return null
  return { file, config: { plugin: readConfigFile(file).value }, becomes: 'plugin', notes: [] }
}

async function readHarness(root: string): Promise<OldFile | null> {
  const file = ['harness.json', 'harness/harness.json'].map((name) => join(root, name)).find(isFile)
  // Other programs have a file of this name too.
  if (file === undefined || !/"middleware"/.test(readShortText(file, 1_000_000) ?? '')) return null
  const { readYaml } = await import('../io/yaml.ts')
  const { harnessSchema } = await import('../config/guard-schema.ts')
  const { $schema: _, ...guard } = readYaml(file, harnessSchema).value
  const notes = [
    'It is still read when gantry.yaml has no such key. Delete it when the plugin of ralph-agent is removed.',
  ]
  return { file, config: { guard }, becomes: 'guard', notes }
}

/** Files whose format did not change. */
async function readAsTheyAre(root: string): Promise<OldFile[]> {
  const { olderRunsOf } = await import('../plugin/pipeline/read-evaluation-state.ts')
  const agent = join(root, 'agent.yaml')
  const results = join(root, 'results')
  const runs = directoriesIn(results).flatMap((plugin) => olderRunsOf(root, plugin))
  const [first] = runs
  const asItIs = (file: string, note: string): OldFile => ({ file, config: {}, becomes: '', notes: [note] })
  const runsNote = `${counted(runs.length, 'run')} of cc-plugin-eval can be continued without paying again: gantry plugin resume ${first}`
  return [
    ...(isFile(agent) ? [asItIs(agent, 'It is read as it is: gantry verify, gantry task run.')] : []),
    ...(first === undefined ? [] : [asItIs(results, runsNote)]),
  ]
}

async function configText(config: object, old: readonly OldFile[]): Promise<string> {
  const { stringify } = await import('yaml')
  const from = old.filter(({ becomes }) => becomes !== '').map(({ file }) => basename(file))
  const head = from.length === 0 ? '' : `# From ${from.join(', ')}.\n`
  return head + stringify(config, { lineWidth: 0 })
}

/** A file that this program writes must be one that it reads. */
async function projectOf(text: string, path: string) {
  const { parseYaml } = await import('../io/yaml.ts')
  const { configSchema } = await import('../config/schema.ts')
  const source = parseYaml(text, path, configSchema)
  return { root: dirname(path), config: source.value, source }
}

/** No scenario at all is not a fault of the migration. */
async function validated<T>(validate: () => Promise<T[]>): Promise<T[]> {
  try {
    return await validate()
  } catch (error) {
    if (error instanceof GantryError && error.code === 'NOT_FOUND') return []
    throw error
  }
}
