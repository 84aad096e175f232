import { posix } from 'node:path'
import { simpleCommand } from '../../../shell/simple-command.ts'
import { globOf } from '../../glob-of.ts'
import { type Check, type CoveragePlace, readChecks } from './read-check.ts'
import { readOptions } from './read-options.ts'
import { runnerOptions } from './runner-options.ts'
import { lastCommandOf, onlyCommandOf, taskScript } from './task-script.ts'

/** The ways to run a concluded check: the task itself, and the only command that the task runs. */
export function waysToRun(words: readonly string[], place: CoveragePlace): readonly Check[] {
  const own = readChecks(words, place)
  const [first] = own
  if (first === undefined || own.length > 1) return []
  const script = taskScript(first, place)
  const only = script === null ? null : onlyCommandOf(script)
  if (only === null) return own
  const { words: inner, assignments } = simpleCommand(only)
  const within = assignments.length > 0 ? [] : readChecks(inner, place)
  return within.length === 1 ? [...own, ...within] : own
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
  const less = run.less.find((each) => !has(wanted.less, each))
  if (less !== undefined) {
    const isAllowed = less.startsWith('nextest') && place.read('.config/nextest.toml') !== null
    if (!isAllowed) return `ran with ${shown(less)}, which leaves out a part of the check`
  }
  const unknown = run.unknown.find((each) => !has(wanted.unknown, each))
  if (unknown !== undefined)
    return `ran with ${shown(unknown)}, and it is not known whether that leaves something out`
  const missing = [...wanted.more, ...wanted.unknown].find(
    (each) => !has([...run.more, ...run.unknown], each),
  )
  if (missing !== undefined) return `ran without ${shown(missing)}`
  return whyLessForwarded(run, wanted, place) ?? whyFewer(run, wanted, place)
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
    return `passed ${shown(passed)} on, and it is not known whether that leaves something out`
  const why = whyLess(more, own, place)
  return why === undefined ? `passed ${shown(passed)} on to another command` : why
}

/** Whether the named files, packages or filters are fewer than the wanted ones. */
function whyFewer(run: Check, wanted: Check, { root, tests }: CoveragePlace): string | null {
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
  const globs = ran.flatMap((each) =>
    /^[^$`{]*\*[^$`{]*$/.test(each) ? (globOf(each.replaceAll('\0', '')) ?? []) : [],
  )
  const isInside = (path: string): boolean =>
    kind === 'packages'
      ? ran.some((each) => contains(each, path, kind) || posix.normalize(each) === posix.dirname(path))
      : ran.some((each) => path.startsWith(`${each}/`)) || globs.some((glob) => glob(path))
  const isAll = files.length > 0 && tests.length < maxTests && files.every(isInside)
  return isAll ? null : `ran only ${shown(run.operands.join(' '))}`
}

/** A longer list of tests is cut. */
const maxTests = 2_000

/** Runners that find their tests by the names of files. */
const ownTests: Readonly<Record<string, RegExp>> = {
  pytest: /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/,
  'node --test': /\.[cm]?[jt]s$/,
  'go test': /_test\.go$/,
}

function below(path: string, root: string): string {
  if (path === root) return '.'
  return path.startsWith(`${root}/`) ? posix.normalize(path.slice(root.length + 1)) : path
}

function contains(one: string, need: string, kind: 'files' | 'filters' | 'packages' | 'none'): boolean {
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
