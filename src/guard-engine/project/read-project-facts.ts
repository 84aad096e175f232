import { join } from 'node:path'
import { isObject, parseObject } from '../../core/json-fields.ts'
import { findProgram, isExecutable } from '../../io/find-program.ts'
import { homeDirectory } from '../../io/host.ts'
import { joinPath, listDirectory, showPath } from '../../io/list-directory.ts'
import { entryKind, isDirectory } from '../../io/path-kind.ts'
import { textInside } from '../../io/read-text-inside.ts'
import type { TreeHash } from '../../io/tree-hash.ts'
import type { DeclaredCommand, PlanFacts, ProjectFacts } from '../contract.ts'
import { printable } from '../printable.ts'
import type { Settings } from '../settings/settings.ts'
import { planCommandSource } from './command-sources.ts'
import { discoverCommands } from './discover-commands.ts'
import { listTree, type ProjectListing, selectEntries, walkTree } from './list-tree.ts'
import { type Plan, parsePlan } from './parse-plan.ts'
import { type ProjectFiles, toolchains } from './toolchains.ts'

const maxEntries = 100
const maxMissing = 2000
const maxNameLength = 160
const maxTitleLength = 200
const maxOpenTitles = 1000
const goTestDepth = 3
const maxFileBytes = 1024 * 1024
const maxPlanBytes = 16 * 1024 * 1024

export interface ProjectReading {
  readonly entries?: boolean
  /** Of the session: shows which commands cannot run because their program is not installed. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The working tree, if it was just read. */
  readonly tree?: TreeHash | null
}

/**
 * The facts about a project for a session, and the commands that verify it. Reads only names and a few files of the root. Without `entries`
 * the tree is not listed, because only the start of a session needs it.
 */
export async function readProjectFacts(
  root: string,
  settings: Settings,
  { entries: wantsEntries = true, env, tree = null }: ProjectReading = {},
): Promise<ProjectFacts> {
  const { maxTreeDepth } = settings.contextInjection
  const names = namesIn(root)
  const listing = wantsEntries
    ? await listTree(root, Math.max(maxTreeDepth, goTestDepth), tree)
    : listForTests(root, names)
  const files = projectFiles(root, names, listing)
  const planText = textInside(root, planCommandSource, maxPlanBytes)
  const plan = planText === null ? null : parsePlan(planText)
  const { entries, omitted } = wantsEntries
    ? entriesOf(root, listing, maxTreeDepth)
    : { entries: [], omitted: 0 }
  const commands = discoverCommands(files, {
    settings: settings.checklist.verificationCommands,
    plan: plan?.verification ?? [],
  })
  const place = (env: NonNullable<ProjectReading['env']>): InstallPlace => ({
    root,
    searchPath: env.PATH ?? '',
    home: homeDirectory(env),
    ...files,
  })
  return {
    entries,
    truncated: omitted > 0 || !listing.complete,
    ...(listing.complete ? { omitted } : {}),
    commands:
      env === undefined ? commands : commands.map((declared) => withMissingTool(declared, place(env))),
    toolchains: toolchains
      .filter((toolchain) => toolchain.source(files) !== null)
      .map((toolchain) => toolchain.name(files)),
    plan: plan === null ? null : planFacts(plan),
  }
}

function withMissingTool(declared: DeclaredCommand, place: InstallPlace): DeclaredCommand {
  const missing = missingTool(declared.command, place)
  return missing === null ? declared : { ...declared, missing }
}

/** The tasks of a plan's text. */
export function planFactsIn(text: string): PlanFacts {
  return planFacts(parsePlan(text))
}

function planFacts({ tasks }: Plan): PlanFacts {
  const open = tasks.filter(({ done }) => !done)
  return {
    total: tasks.length,
    done: tasks.length - open.length,
    open: open.slice(0, maxOpenTitles).map(({ title }) => printable(title, maxTitleLength)),
  }
}

function entriesOf(root: string, { known }: ProjectListing, depth: number) {
  const kinds = new Map<string, ReturnType<typeof entryKind>>()
  let missing = 0
  const isThere = (entry: string): boolean => {
    // In a sparse checkout, git lists files that do not exist on disk.
    if (missing === maxMissing) return false
    const kind = entryKind(joinPath(root, Buffer.from(withoutSlash(entry), 'latin1')))
    kinds.set(entry, kind)
    if (kind === null) missing += 1
    return kind !== null
  }
  const selected = selectEntries(known, { depth, max: maxEntries, isThere })
  const entries = selected.entries.map((entry) => {
    const name = printable(showPath(Buffer.from(withoutSlash(entry), 'latin1')), maxNameLength)
    // Git lists a nested repository as one entry, but it is a directory.
    return kinds.get(entry) === 'directory' ? `${name}/` : name
  })
  return { entries, omitted: selected.omitted }
}

function withoutSlash(entry: string): string {
  return entry.endsWith('/') ? entry.slice(0, -1) : entry
}

/** Names in the root. Directories, and links to them, end in `/`. */
function namesIn(root: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const entry of listDirectory(root)) {
    const name = showPath(entry.name)
    const isThere = entry.isDirectory() || (entry.isSymbolicLink() && isDirectory(`${root}/${name}`))
    names.add(isThere ? `${name}/` : name)
  }
  return names
}

/** Only some toolchains are recognized by the names of tests outside of the root. Nothing is walked for the others. */
function listForTests(root: string, names: ReadonlySet<string>): ProjectListing {
  const isMeant = [...names].some((name) => foundByTests.test(name))
  return isMeant ? walkTree(root, goTestDepth) : { known: new Set(), complete: true }
}

const foundByTests =
  /^go\.(?:mod|work)$|\.go$|^bun\.lockb?$|^(?:pyproject\.toml|Pipfile|(?:dev-)?requirements(?:-dev)?\.txt)$/

function projectFiles(root: string, names: ReadonlySet<string>, { known }: ProjectListing): ProjectFiles {
  const texts = new Map<string, string | null>()
  return {
    names,
    known,
    read: (name) => {
      const read = texts.get(name)
      if (read !== undefined) return read
      const text = names.has(name) ? textInside(root, name, maxFileBytes) : null
      texts.set(name, text)
      return text
    },
  }
}

interface InstallPlace {
  readonly root: string
  /** PATH of the session. */
  readonly searchPath: string
  readonly home: string
  readonly names: ReadonlySet<string>
  /** Text of a file in the root. */
  read(name: string): string | null
}

/**
 * The program that a command needs and that is not installed; null when it is, or when that cannot be said. Looks only at plain commands and
 * at scripts of package.json that start with a plain word.
 */
function missingTool(command: string, place: InstallPlace): string | null {
  const words = plainWords(command)
  const [program = ''] = words
  if (!isPlain(program) || shellWords.has(program)) return null
  if (!isInstalled(program, place)) return program
  const script = scriptOf(words, place)
  if (script === undefined) return null
  const [tool = ''] = plainWords(script)
  return isPlain(tool) && !shellWords.has(tool) && !isInstalled(tool, place) ? tool : null
}

/** The first command of a line without its variables. Empty when a shell would have to read it. */
function plainWords(command: string): readonly string[] {
  const [first = ''] = command.split(/&&|\|\||[;|\n]/)
  if (/[$`(){}<>*?]/.test(first)) return []
  const words = first.trim().split(/\s+/)
  return words.slice(words.findIndex((word) => !/^\w+=/.test(word)))
}

function isPlain(word: string): boolean {
  return /^[A-Za-z][\w.+-]*$/.test(word)
}

const shellWords = new Set(
  '. : alias bash builtin cd command declare echo env eval exec exit export false for function if printf pwd read return set sh source test time true type ulimit umask unset until wait while zsh'.split(
    ' ',
  ),
)

/** Programs that find other programs where this file does not look. */
const environments = [
  ['uv.lock', 'uv'],
  ['poetry.lock', 'poetry'],
  ['Pipfile', 'pipenv'],
  ['pdm.lock', 'pdm'],
  ['hatch.toml', 'hatch'],
  ['environment.yml', 'conda'],
  ['flake.nix', 'nix'],
  ['shell.nix', 'nix-shell'],
  ['mise.toml', 'mise'],
  ['.mise.toml', 'mise'],
  ['.tool-versions', 'asdf'],
  ['devbox.json', 'devbox'],
  ['Gemfile', 'bundle'],
] as const

function isInstalled(program: string, { root, home, searchPath, names }: InstallPlace): boolean {
  if (findProgram(program, searchPath) !== null) return true
  const places = [
    ...['node_modules/.bin', '.venv/bin', 'venv/bin', 'env/bin', 'vendor/bin', 'bin'].map((dir) =>
      join(root, dir),
    ),
    ...['.local/bin', '.cargo/bin', 'go/bin', '.bun/bin', '.deno/bin'].map((dir) => join(home, dir)),
  ]
  if (places.some((place) => isExecutable(join(place, program)))) return true
  return environments.some(([file, tool]) => names.has(file) && findProgram(tool, searchPath) !== null)
}

function scriptOf(
  [manager = '', ...words]: readonly string[],
  { read, names }: InstallPlace,
): string | undefined {
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(manager)) return undefined
  // Workspaces and Plug'n'Play keep their programs elsewhere.
  if (['.pnp.cjs', 'pnpm-workspace.yaml', 'lerna.json'].some((name) => names.has(name))) return undefined
  const [called, ...rest] = words.filter((word) => !/^(?:run|run-script|-s|--silent)$/.test(word))
  if (called === undefined || rest.length > 0) return undefined
  const { scripts, workspaces } = parseObject(read('package.json') ?? '') ?? {}
  if (workspaces !== undefined || !isObject(scripts)) return undefined
  const script = scripts[called === 't' || called === 'tst' ? 'test' : called]
  return typeof script === 'string' ? script : undefined
}
