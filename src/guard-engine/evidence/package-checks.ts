import { posix } from 'node:path'
import type { World } from '../../shell/world.ts'
import type { DeclaredCommand } from '../contract.ts'
import { type CoveragePlace, readChecks, scriptsIn } from './coverage/read-check.ts'
import { taskScript } from './coverage/task-script.ts'
import { movedCommand } from './moved-command.ts'
import { provesNothing } from './proves-nothing.ts'

/** `cd packages/a && npm test`: a check of one package of a monorepo. */
export interface PackageCheck {
  /** Relative to the root. */
  readonly directory: string
  /** What runs there. */
  readonly command: string
}

export function packageCheck(command: string): PackageCheck | null {
  const [, path = '', rest = ''] = /^cd\s+(["']?[\w@.][\w@./-]*["']?)\s*&&\s*(\S[^&|;]*)$/.exec(command) ?? []
  const directory = posix.normalize(path.replaceAll(/["']/g, '')).replace(/\/$/, '')
  return rest === '' || directory === '.' || directory.startsWith('..') ? null : { directory, command: rest }
}

/** The project as seen from one of its packages. */
export function insidePackage<Place extends CoveragePlace>(place: Place, directory: string): Place {
  const start = `${directory}/`
  return {
    ...place,
    root: `${place.root}/${directory}`,
    read: (name: string) => place.read(start + name),
    tests: place.tests.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length)),
  }
}

const scopes = /^(?:-w|--workspace|--prefix|-C|--dir|--cwd|--filter|-F|-p|--package|--directory)(?:=(.*))?$/

/** `npm test -w @shop/app`, as the check in the directory of that package; null for anything else. */
export function scopedCheck(words: readonly string[], place: CoveragePlace): PackageCheck | null {
  if (!/^(?:npm|pnpm|yarn|bun|cargo)$/.test(words[0] ?? '')) return null
  const [scope, ...more] = scopesIn(words)
  if (scope === undefined || more.length > 0) return null
  const isDirectory = ['package.json', 'Cargo.toml'].some(
    (name) => place.read(`${pathOf(scope.value)}/${name}`) !== null,
  )
  const directory = isDirectory
    ? pathOf(scope.value)
    : workspacePackages(place.root, { list: place.list ?? (() => null) }, place.read).find(
        (each) => packageName(each, place.read) === scope.value,
      )
  return directory === undefined || directory === '.' || directory.startsWith('..')
    ? null
    : { directory, command: scope.rest.join(' ') }
}

/** Turbo in one package, and perhaps in those that it needs or that need it. */
const turboOfOne =
  /^(?:(?:npx|bunx|yarn|pnpm(?: exec)?) )?turbo (?:run )?([\w:-]+) (?:--filter|-F)[= ](?:\.\.\.)?([\w@./-]*?)(?:\.\.\.)?$/

interface PackageScope {
  readonly value: string
  /** The words without it. */
  readonly rest: readonly string[]
}

/** The options that name a package. */
function scopesIn(words: readonly string[]): readonly PackageScope[] {
  if (words[0] === 'yarn' && words[1] === 'workspace')
    return [{ value: words[2] ?? '', rest: ['yarn', ...words.slice(3)] }]
  const [, task, value] = turboOfOne.exec(words.join(' ')) ?? []
  if (task !== undefined && value !== undefined) return [{ value, rest: ['npm', 'run', task] }]
  const end = words.indexOf('--')
  return (end === -1 ? words : words.slice(0, end)).flatMap((word, index) => {
    const [isScope, value] = scopes.exec(word) ?? []
    if (isScope === undefined) return []
    const rest = words.toSpliced(index, value === undefined ? 2 : 1)
    return [{ value: withoutOthers(value ?? words[index + 1] ?? ''), rest }]
  })
}

/** `...app`, `app...`: the package, and those that need it or that it needs. */
function withoutOthers(filter: string): string {
  return filter.replace(/^\.{3}(?![.^])|(?<![.^])\.{3}$/g, '')
}

/** The words without the option that names this package, by its directory or by its name; null when there is none. */
export function withoutScope(
  words: readonly string[],
  directory: string,
  place: CoveragePlace,
): readonly string[] | null {
  const isIt = ({ value }: PackageScope): boolean =>
    pathOf(value) === directory || packageName(directory, place.read) === value
  return scopesIn(words).find(isIt)?.rest ?? withoutPlace(words, directory, place)
}

/** `pytest api`, as the command in that directory: its runner finds the settings from the place that it is given. */
function withoutPlace(
  words: readonly string[],
  directory: string,
  place: CoveragePlace,
): readonly string[] | null {
  const [check] = readChecks(words, place)
  const isInside = (path: string): boolean => `${pathOf(path)}/`.startsWith(`${directory}/`)
  const isRunner = check !== undefined && /^(?:pytest|ruff check|go test)$/.test(check.runner)
  if (!isRunner || !check.operands.some(isInside)) return null
  // `go test ./api/... ./web/...` tests each module as in its directory.
  const beside = check.operands.filter((each) => !isInside(each))
  if (beside.length > 0 && check.runner !== 'go test') return null
  return words.flatMap((word) => {
    if (beside.includes(word)) return []
    const path = pathOf(word)
    if (path === directory) return check.runner === 'go test' ? ['.'] : []
    return path.startsWith(`${directory}/`) ? [`./${path.slice(directory.length + 1)}`] : [word]
  })
}

function pathOf(text: string): string {
  return posix.normalize(text).replace(/\/$/, '')
}

function packageName(directory: string, read: CoveragePlace['read']): string | null {
  const text = read(`${directory}/package.json`) ?? read(`${directory}/Cargo.toml`) ?? ''
  return (
    /^[ \t]*"name"\s*:\s*"([^"]+)"/m.exec(text)?.[1] ??
    /"name"\s*:\s*"([^"]+)"/.exec(text)?.[1] ??
    /^[ \t]*name\s*=\s*"([^"]+)"/m.exec(text)?.[1] ??
    null
  )
}

/** What the packages of a monorepo are checked with, given the concluded check of the root; null when it cannot be divided. */
export function checkInPackage(
  check: Pick<DeclaredCommand, 'command' | 'explicit'>,
  directory: string,
  read: CoveragePlace['read'],
): string | null {
  if (check.explicit) return null
  const { command } = check
  const parts = partsInPackages(command, read)
  if (parts !== null) return parts.find((part) => part.directory === directory)?.command ?? null
  if (command === 'cargo test') return read(`${directory}/Cargo.toml`) === null ? null : command
  const script = scriptName(command)
  const own = script === null ? undefined : scriptsIn(read(`${directory}/package.json`)).get(script)
  return own === undefined || provesNothing(own) !== null ? null : command
}

/** The parts of a task of the root that only checks directories, one after the other: `cd api && pytest`, `npm --prefix web test`. */
export function partsInPackages(
  command: string,
  read: CoveragePlace['read'],
): readonly PackageCheck[] | null {
  const place = { root: '/', read, tests: [] }
  const [check, ...more] = readChecks(command.split(' '), place)
  const script = check === undefined || more.length > 0 ? null : taskScript(check, place)
  const lines = script?.match(/(?<=^|\) && )\([^\n]+\n\)(?=$| && \()/g) ?? []
  const parts = lines.map((line) => partIn(line.slice(1, -2).trim()))
  const places = new Set(parts.map((part) => part?.directory))
  const isAll = lines.join(' && ') === script && !parts.includes(null)
  return isAll && parts.length > 1 && places.size === parts.length
    ? parts.filter((part) => part !== null)
    : null
}

function partIn(line: string): PackageCheck | null {
  const moved = /^[\w@./=: -]+$/.test(line) ? movedCommand(line.split(/ +/)) : null
  return packageCheck(moved === null ? line : `cd ${moved.directory} && ${moved.words.join(' ')}`)
}

/** `npm test`, `pnpm run lint`. */
function scriptName(command: string): string | null {
  return /^(?:npm|pnpm|yarn|bun) (?:run )?([\w:-]+)$/.exec(command)?.[1] ?? null
}

/** Whether the root only starts the same check in every package. */
export function isDivided(command: string, read: CoveragePlace['read']): boolean {
  if (partsInPackages(command, read) !== null) return true
  if (command === 'cargo test') return !/^[ \t]*\[package\]/m.test(read('Cargo.toml') ?? '[package]')
  const name = scriptName(command)
  const script = name === null ? undefined : scriptsIn(read('package.json')).get(name)
  if (script === undefined || name === null || /[&|;<>$`]/.test(script)) return false
  const words = script.split(/\s+/).map((word) => word.replaceAll(/["']/g, ''))
  if (!words.some((word) => word === name)) return false
  const [program = ''] = words[0] === 'npx' || words[0] === 'pnpx' ? words.slice(1) : words
  switch (program) {
    case 'npm':
      return words.some((word) => word === '--workspaces' || word === '-ws')
    case 'pnpm':
      return words.some((word) => word === '-r' || word === '--recursive')
    case 'yarn':
      return words[1] === 'workspaces'
    case 'bun':
      return words.some(
        (word, index) => /^--filter(?:=\*)?$/.test(word) && (word.endsWith('*') || words[index + 1] === '*'),
      )
    case 'turbo':
    case 'lerna':
    case 'nx':
      return !words.some((word) => /^--(?:filter|scope|projects|exclude|ignore)\b/.test(word))
    default:
      return false
  }
}

const maxPackages = 300
const manifest = /\/(?:Cargo\.toml|pom\.xml)$/

/** Checks of packages that a call may run: the concluded checks of the root, in the packages that it names. */
export function packageChecksIn(
  script: string,
  known: readonly DeclaredCommand[],
  { root, cwd, world, read }: PackagePlace,
): readonly DeclaredCommand[] {
  const divided = known.filter(({ command, explicit }) => !explicit && isDivided(command, read))
  if (divided.length === 0) return []
  const words = script
    .split(/[\s;&|()"'=]+/)
    .filter((word) => word !== '')
    .map(withoutOthers)
  const places = cwd?.startsWith(`${root}/`) ? [cwd.slice(root.length + 1)] : []
  const below = (word: string): string => (word.startsWith(`${root}/`) ? word.slice(root.length + 1) : word)
  const named = new Set([...places, ...words.map((word) => pathOf(below(word.replace(manifest, ''))))])
  // The task of a part may start it too.
  const ofParts = divided.flatMap(({ command }) => partsInPackages(command, read) ?? [])
  const inParts = new Set(ofParts.map(({ directory }) => directory))
  const packages = [...new Set([...workspacePackages(root, world, read), ...inParts])]
  const meant = packages.filter((directory) => {
    if (named.has(directory) || inParts.has(directory)) return true
    const name = packageName(directory, read)
    return name !== null && words.includes(name)
  })
  return meant.flatMap((directory) =>
    divided.flatMap((check): readonly DeclaredCommand[] => {
      const command = checkInPackage(check, directory, read)
      if (command === null) return []
      return [{ ...check, command: `cd ${directory} && ${command}`, source: `${directory}/` }]
    }),
  )
}

export interface PackagePlace {
  readonly root: string
  /** Where the call starts; null when unknown. */
  readonly cwd: string | null
  readonly world: Pick<World, 'list'>
  /** Text of a file below the root. */
  readonly read: CoveragePlace['read']
}

/** Directories that the workspace of the root names: `packages/*`, `apps/web`. */
function workspacePackages(
  root: string,
  world: Pick<World, 'list'>,
  read: CoveragePlace['read'],
): readonly string[] {
  const lists = [
    /"workspaces"\s*:\s*(?:\{[^[]*)?\[([^\]]*)\]/.exec(read('package.json') ?? '')?.[1],
    /^packages:\s*\n((?:\s*(?:-.*|#.*)?\n?)+)/m.exec(read('pnpm-workspace.yaml') ?? '')?.[1],
    /^[ \t]*members\s*=\s*\[([^\]]*)\]/m.exec(read('Cargo.toml') ?? '')?.[1],
  ]
  const patterns = lists.flatMap((list) =>
    [...(list ?? '').matchAll(/[\w@.][\w@./*-]*/g)].map(([text]) => text),
  )
  const found = patterns.flatMap((pattern) => {
    const [, parent] = /^([\w@./-]+)\/\*{1,2}$/.exec(pattern) ?? []
    if (parent === undefined) return pattern.includes('*') ? [] : [pathOf(pattern)]
    return (world.list(`${root}/${pathOf(parent)}`) ?? []).map((name) => `${pathOf(parent)}/${name}`)
  })
  return [...new Set(found)].slice(0, maxPackages)
}
