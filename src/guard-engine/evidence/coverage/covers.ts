import { posix } from 'node:path'
import { parse } from 'unbash'
import { movesShell } from '../../../shell/script-state.ts'
import { type SimpleCommand, simpleCommand, simpleCommandsIn } from '../../../shell/simple-command.ts'
import { skipsDirectory } from '../../generated-directories.ts'
import { globOf } from '../../glob-of.ts'
import { type Check, type CoveragePlace, readChecks, scriptsIn } from './read-check.ts'
import { readOptions } from './read-options.ts'
import { type OperandKind, runnerOptions } from './runner-options.ts'
import { lastCommandOf, onlyCommandOf, taskScript } from './task-script.ts'

/**
 * The ways to run a check: the task itself, and each command that the task runs, if the others in it only tidy up or are demanded
 * anyway. Otherwise a run of that command lacks them.
 */
export function waysToRun(
  words: readonly string[],
  place: CoveragePlace,
  isConcluded: boolean,
): readonly Check[] {
  const own = readChecks(words, place)
  const [first] = own
  if (first === undefined || own.length > 1) return []
  const script = taskScript(first, place)
  const commands =
    script === null || lastCommandOf(script) === null
      ? []
      : simpleCommandsIn(parse(script)).map((each) => simpleCommand(each))
  if (commands.some((command) => movesShell(command) || command.words.length === 0)) return own
  const needed = commands.filter((each) => !onlyTidies(each.words, place))
  const isDemanded = (each: SimpleCommand): boolean => isConcluded && isOwnScript(each, place)
  const inner = needed.flatMap((command) => {
    const [check, ...more] = command.assignments.length > 0 ? [] : readChecks(command.words, place)
    if (check === undefined || more.length > 0) return []
    const others = needed.filter((each) => each !== command && !isDemanded(each))
    return [{ ...check, ...(needed.length > 1 && { lacks: others.map((each) => each.words.join(' ')) }) }]
  })
  return [...own, ...inner]
}

/** It only removes outputs, makes directories or prints. */
function onlyTidies(words: readonly string[], place: CoveragePlace, depth = 0): boolean {
  if (/^(?:(?:npx|shx) )?(?:rm|rimraf|del-cli|del|mkdir|mkdirp|echo) /.test(`${words.join(' ')} `))
    return true
  const scripts =
    depth > 3 ? [] : readChecks(words, place).map((check) => taskScript(check, place) ?? 'false')
  const commands = scripts.flatMap((script) => simpleCommandsIn(parse(script)))
  return (
    commands.length > 0 && commands.every((each) => onlyTidies(simpleCommand(each).words, place, depth + 1))
  )
}

/** What the script `lint` or `typecheck` runs, which is a check of its own where nothing is declared. */
function isOwnScript({ words, assignments }: SimpleCommand, place: CoveragePlace): boolean {
  const scripts = scriptsIn(place.read('package.json'))
  const [check, ...more] = readChecks(words, place)
  const isSame = ['lint', 'typecheck'].some(
    (name) =>
      scripts.get(name) === words.join(' ') || (check?.runner === `script:${name}` && scripts.has(name)),
  )
  return isSame && more.length + assignments.length + (check?.forwarded.length ?? 0) === 0
}

/** Whether a new command line does at least as much as an old one. Anything but two single commands of one runner is not known to. */
export function doesAsMuch(line: string, old: string): boolean {
  const nowhere = { root: '/', read: () => null, tests: [] }
  const [is, was] = [line, old].map((each) => {
    const only = onlyCommandOf(each)
    const [check, ...more] = only === null ? [] : readChecks(simpleCommand(only).words, nowhere)
    const isSet = only !== null && simpleCommand(only).assignments.length > 0
    return check === undefined || more.length > 0 || isSet ? null : check
  })
  return is != null && was != null && whyLess(is, was, nowhere) === null
}

/**
 * Why a run does less than the wanted check, as a sentence with the command as its subject; null when it does at least as much,
 * undefined when it is another check.
 */
export function whyLess(run: Check, wanted: Check, place: CoveragePlace): string | null | undefined {
  if (run.runner !== wanted.runner) return undefined
  const has = (all: readonly string[], one: string): boolean =>
    all.some((each) => spelled(each) === spelled(one))
  const updates = run.less.find((each) => updating.test(each) && !has(wanted.less, each))
  const less = run.less.find((each) => !updating.test(each) && !has(wanted.less, each))
  if (less !== undefined) {
    const isAllowed =
      (less.startsWith('nextest') && place.read('.config/nextest.toml') !== null) ||
      (less === '--skipLibCheck' && /"skipLibCheck"\s*:\s*true/.test(place.read('tsconfig.json') ?? ''))
    if (!isAllowed) return `ran with ${shown(less)}, which leaves out a part of the check`
  }
  const unknown = run.unknown.find((each) => !has(wanted.unknown, each))
  if (unknown !== undefined && isOwnForm(run, wanted, place)) return null
  if (unknown !== undefined) return `ran with ${shown(unknown)}, ${perhapsLess}`
  const given = [...run.more, ...run.unknown]
  const missing = wanted.lacks?.[0] ?? [...wanted.more, ...wanted.unknown].find((each) => !has(given, each))
  if (missing !== undefined) return `ran without ${shown(missing)}`
  const updated = updates === undefined ? null : `ran with ${shown(updates)}, which ${rewrites}`
  return whyLessForwarded(run, wanted, place) ?? whyFewer(run, wanted, place) ?? updated
}

const updating = /^(?:-u|--update|--updateSnapshot|--update-snapshots|--snapshot-update)$/
export const rewrites = 'rewrites snapshots'

/** The end of a reason that is only a lack of knowledge. */
export const perhapsLess = 'and it is not known whether that leaves something out'

/** `npm test --workspaces` where the script `test` of the root is just that. */
function isOwnForm(run: Check, wanted: Check, place: CoveragePlace): boolean {
  const script = wanted.unknown.length > 0 ? null : taskScript(wanted, place)
  const only = script === null ? null : onlyCommandOf(script)
  const [own] = only === null ? [] : readChecks(simpleCommand(only).words, place)
  if (own === undefined) return false
  // Without it, a package that lacks the script fails.
  const unknown = own.unknown.filter((each) => each !== '--if-present')
  return unknown.length > 0 && whyLess(run, { ...own, unknown }, place) === null
}

/** Options that narrow no known test runner, for a script with an unknown one. */
const lookOfTests = {
  look: '--run --silent --verbose --coverage --ci --no-color --color --watch=false --watchAll=false --runInBand --reporter= --bail',
  less: '',
}

function whyLessForwarded(run: Check, wanted: Check, place: CoveragePlace): string | null {
  if (run.forwarded.join('\0') === wanted.forwarded.join('\0')) return null
  const passed = run.forwarded.join(' ')
  const [with_, without] = [run, { ...run, forwarded: wanted.forwarded }].map((each) => {
    const script = taskScript(each, place)
    const last = script === null ? null : lastCommandOf(script)
    return last === null ? [] : readChecks(simpleCommand(last).words, place)
  })
  const [more, own] = [with_?.[0], without?.[0]]
  const isLook = readOptions(run.forwarded, lookOfTests)
  if (own === undefined && isLook.unknown.length + isLook.operands.length === 0) return null
  if (more === undefined || own === undefined || (with_?.length ?? 0) > 1)
    return `passed ${shown(passed)} on, ${perhapsLess}`
  const why = whyLess(more, own, place)
  return why === undefined ? `passed ${shown(passed)} on to another command` : why
}

/** Whether the named files, packages or filters are fewer than the wanted ones. */
function whyFewer(run: Check, wanted: Check, place: CoveragePlace): string | null {
  const { root, tests } = place
  const options = runnerOptions()[run.runner]
  const kind = options?.operands ?? 'files'
  const isDefault = run.operands.length === 0
  const from = (operands: readonly string[]): readonly string[] =>
    kind === 'filters' ? operands : operands.map((each) => below(each, root))
  const [ran, all] = [from(run.operands), from(wanted.operands)]
  if (isDefault && all.length === 0) return null
  if (isDefault) {
    if (kind === 'packages') return 'ran only the package of the root'
    return options?.narrowByDefault === true ? `ran without ${shown(wanted.operands.join(' '))}` : null
  }
  const everything = kind === 'packages' ? './...' : '.'
  const needs = all.length === 0 ? [everything] : all
  const isCovered = (need: string): boolean => ran.some((each) => contains(each, need, kind))
  if (needs.every(isCovered)) return null
  // Directories, patterns and packages that together contain every test file do as much.
  const isWanted = (path: string): boolean =>
    needs.some((need) => contains(need.replace('./...', '.'), path, 'files'))
  const files = tests.filter((path) => ownTests[run.runner]?.test(path) === true && isWanted(path))
  const globs = ran.flatMap(globsOf)
  const isInside = (path: string): boolean =>
    kind === 'packages'
      ? ran.some((each) => contains(each, path, kind) || posix.normalize(each) === posix.dirname(path))
      : ran.some((each) => path.startsWith(`${each}/`)) || globs.some((glob) => glob(path))
  const isAll = files.length > 0 && tests.length < maxTests && files.every(isInside)
  if (isAll) return null
  const checked = checkedFiles[run.runner]
  const missed = checked === undefined ? undefined : fileBeside(checked, ran, needs, place)
  if (missed === null) return null
  const places = ran.map((each) => each.replace(/\/[^/]+\.\w+proj$/, ''))
  const isInAny = (path: string): boolean =>
    places.some((each) => each === path || path.startsWith(`${each}/`))
  if (tests.length > 0 && kind !== 'packages' && tests.every(isInAny))
    return `ran only ${shown(run.operands.join(' '))}, ${perhapsLess}`
  const without = missed === undefined ? '' : `, not ${shown(missed)}`
  return `ran only ${shown(run.operands.join(' '))}${without}`
}

/** A file of the wanted check that the named places leave out; null when there is none, undefined when that is not known. */
function fileBeside(
  checked: RegExp,
  ran: readonly string[],
  needs: readonly string[],
  { root, list }: CoveragePlace,
): string | null | undefined {
  const isUnseen = (need: string): boolean =>
    /^(?:\.\.|[/~])|[$`{?[]/.test(need) || need.split('/').some(skipsDirectory)
  if (needs.some(isUnseen)) return undefined
  const isIn = (path: string, at: string): boolean =>
    contains(at, path, 'files') || globsOf(at).some((glob) => glob(path))
  // Most shells read `**` as `*`.
  const isRun = (path: string): boolean => ran.some((each) => isIn(path, each.replaceAll('**', '*')))
  const directories = ['']
  const missing = new Set(needs.filter((need) => !isRun(need)))
  for (const directory of directories) {
    const names = list?.(`${root}/${directory}`.replace(/\/$/, ''))
    if (names == null || directories.length > maxDirectories) return undefined
    for (const path of names.filter((name) => !skipsDirectory(name)).map((name) => directory + name)) {
      for (const need of missing) if (isIn(path, need)) missing.delete(need)
      if (isRun(path)) continue
      const isDirectory = list?.(`${root}/${path}`) != null
      if (isDirectory) directories.push(`${path}/`)
      else if (needs.includes(path) || (checked.test(path) && needs.some((need) => isIn(path, need))))
        return path
    }
  }
  return missing.size === 0 ? null : undefined
}

const maxDirectories = 500

/** A longer list of tests is cut. */
const maxTests = 2_000

/** Runners that find their tests by the names of files. */
const ownTests: Readonly<Record<string, RegExp>> = {
  pytest: /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/,
  'node --test': /\.[cm]?[jt]s$/,
  'go test': /_test\.go$/,
}

const python = /\.(?:pyi?|ipynb)$/

/** What linters and runners check in a directory. */
const checkedFiles: Readonly<Record<string, RegExp>> = {
  'ruff check': python,
  'ruff format': python,
  black: python,
  flake8: python,
  shellcheck: /(?:)/,
  bats: /\.bats$/,
}

function globsOf(pattern: string): readonly ((path: string) => boolean)[] {
  const glob = /^[^$`{]*\*[^$`{]*$/.test(pattern) ? globOf(pattern.replaceAll('\0', '')) : null
  return glob === null ? [] : [glob]
}

function below(path: string, root: string): string {
  if (path === root) return '.'
  return path.startsWith(`${root}/`) ? posix.normalize(path.slice(root.length + 1)) : path
}

function contains(one: string, need: string, kind: OperandKind): boolean {
  if (one === need) return true
  switch (kind) {
    case 'files':
      // The solution in the root names all projects.
      return one === '.' || need.startsWith(`${one}/`) || (need === '.' && /^[^/]+\.slnx?$/.test(one))
    case 'packages': {
      const place = /^(.*)\/\.\.\.$/.exec(one)?.[1]?.replace(/^\.\//, '')
      return place === '.' || (place !== undefined && need.replace(/^\.\//, '').startsWith(`${place}/`))
    }
    default:
      return false
  }
}

/** `--max-warnings=0` is `--max-warnings 0`. */
function spelled(option: string): string {
  return option.replace('=', ' ')
}

function shown(text: string): string {
  return `\`${text.replaceAll('\0', '').slice(0, 80)}\``
}
