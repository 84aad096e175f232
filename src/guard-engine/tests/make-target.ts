import { anyOf } from '../../core/any-of.ts'
import { captures } from '../../core/captures.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { modifiedAtMs } from '../../io/directory.ts'
import { changedAtMs, createdAtMs } from '../../io/path-kind.ts'
import { sha256 } from '../../io/sha256.ts'
import { taskFiles } from '../evidence/coverage/task-script.ts'

/** The text of a file of the project; null when there is none. */
export type ReadText = (path: string) => string | null

/** The targets with those they need, the variables they use, and what changes how every recipe ends. */
export function makeTarget(command: string, text: ReadText): string | null {
  const made = makeRules(command, text)
  if (made === null) return null
  const { targets, file, lines, rules } = made
  const found = [...rules.values()]
  const names = new Set(captures(found.join('\n'), /\$[({](\w+)[)}]/g))
  const variables = lines.filter((line) => names.has(/^(\w+)\s*[:?+]*=/.exec(line)?.[1] ?? ''))
  const included = lines.flatMap((line) => /^-?include\s+(\S+)$/.exec(line)?.[1] ?? [])
  const phony = lines.filter((line) => /^\.PHONY\s*:/.test(line)).flatMap((line) => line.split(/[\s:]+/))
  const files = [...rules].flatMap(([name, rule]) =>
    phony.includes(name) || text(name) === null || (!targets.includes(name) && isBuilt(name, rule, text))
      ? []
      : [name],
  )
  return [
    ...found,
    ...variables.map((line) => `${file}: ${line.trim()}`),
    ...lines
      .filter((line) => everyRecipe.test(line) && !usualShell.test(line))
      .map((line) => `${file}: ${line.trim()}`),
    ...included.flatMap((path) => fingerprint(path, text(path))),
    ...files.map((name) => `${file}: a file has the name of the target ${name}`),
  ].join('\n')
}

interface MakeRules {
  readonly targets: readonly string[]
  readonly file: string
  readonly lines: readonly string[]
  /** The rules of the targets and those of what they need, by name. */
  readonly rules: ReadonlyMap<string, string>
  /** A text with the values of variables. */
  expanded(text: string): string
}

function makeRules(command: string, text: ReadText): MakeRules | null {
  const [, named] = /^g?make(?:\s+-(?:j ?\d*|[ks]+))*((?:\s+\w[\w.-]*)+)$/.exec(command.trim()) ?? []
  const file = taskFiles.make.find((name) => text(name) !== null)
  if (named === undefined || file === undefined) return null
  const lines = (text(file) ?? '').replaceAll(/\\\n[\t ]*/g, ' ').split('\n')
  const expanded = expander(lines)
  const heads = new Map<string, number[]>()
  for (const [at, line] of lines.entries()) {
    const [, names = ''] = /^([^\s#:=][^#:=]*):(?!:?:?=)/.exec(line) ?? []
    for (const name of wordsOf(expanded(names))) {
      const known = heads.get(name)
      if (known === undefined) heads.set(name, [at])
      else known.push(at)
    }
  }
  const patterns = [...heads.keys()]
    .filter((name) => name.includes('%'))
    .map((name) => [name, name.slice(name.lastIndexOf('%') + 1)] as const)
  const objects = [...heads.keys()].filter((name) => name.endsWith('.o'))
  const rules = new Map<string, string>()
  const add = (name: string): void => {
    const starts = heads.get(name)
    if (starts === undefined || rules.has(name) || rules.size > maxRules) return
    const found = starts.map((start) => {
      let end = start + 1
      while (end < lines.length && /^(?:[\t #]|$)/.test(lines[end] ?? '')) end += 1
      return lines.slice(start, end)
    })
    // make takes the last recipe of a target.
    rules.set(name, found.map((rule) => rule.join('\n').trimEnd()).join('\n'))
    for (const [head = ''] of found) needsOf(expanded(head)).forEach(need)
  }
  const need = (name: string): void => {
    if (rules.size > maxRules) return
    add(name)
    for (const [pattern, end] of patterns) if (patterns.length > maxRules || name.endsWith(end)) add(pattern)
    // make computes this name, so it may be any object.
    if (name.includes('$')) objects.splice(0).forEach(add)
  }
  const targets = named.trim().split(/\s+/)
  targets.forEach(add)
  return rules.size === 0 ? null : { targets, file, lines, rules, expanded }
}

const maxRules = 200

/** Replaces variables by all that a file of make sets them to, until that is too much. */
function expander(lines: readonly string[]): (text: string) => string {
  const values = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = /^(\w+)\s*[:?+]*=(.*)$/.exec(line) ?? []
    if (name !== undefined) values.set(name, `${values.get(name) ?? ''} ${value}`)
  }
  let left = maxExpanded
  const expanded = (text: string, depth = 0): string =>
    text.replaceAll(/\$[({](\w+)[)}]/g, (all, name) => {
      const value = values.get(name)
      if (value === undefined || depth > 3 || left < 0) return all
      const found = expanded(value, depth + 1).trim()
      left -= found.length + 1
      return found
    })
  return expanded
}

const maxExpanded = 200_000

function needsOf(head: string): readonly string[] {
  return wordsOf(head.replace(/^[^:]*:+/, ''))
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

/**
 * The files that a make target is built from and into: by name a hash of each side, and whether the built one is `older` than a change of
 * its sources. make looks only at times, which `touch` and `make -t` set.
 */
export function builtTargets(
  root: string,
  command: string,
  text: ReadText,
): Readonly<Record<string, string>> {
  const made = makeRules(command, text)
  if (made === null) return {}
  const { targets, rules, expanded } = made
  const sources = (name: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const need of needsOf(expanded(rules.get(name)?.split('\n', 1)[0] ?? ''))) {
      if (seen.has(need) || seen.size > maxSources) continue
      seen.add(need)
      const stem = need.endsWith('.o') ? need.slice(0, -2) : null
      if (stem !== null) for (const end of ['.c', '.cc', '.cpp', '.cxx']) seen.add(stem + end)
      sources(need, seen)
    }
    return seen
  }
  const built = [...rules].flatMap(([name, rule]): (readonly [string, string])[] => {
    const program = targets.includes(name) || !isBuilt(name, rule, text) ? null : text(name)
    if (program === null) return []
    const needs = [...sources(name)]
    const from = needs.filter((path) => text(path)?.includes('\0') === false)
    const ageOf = (path: string, stem = ''): string => {
      const own = from.filter((each) => each.startsWith(stem)).map((each) => `${root}/${each}`)
      return builtAge(`${root}/${path}`, own)
    }
    const objects = needs.filter((path) => path.endsWith('.o'))
    // A program that is linked again still has what make took for new in an object.
    const ages = [ageOf(name), ...objects.map((path) => ageOf(path, path.slice(0, -1)))]
    const [own = ''] = ages
    const age = own !== '' && ages.includes('older') ? 'older' : own
    const hashes = [program, from.map((path) => `${path}\n${text(path)}`).join('\n')]
    const kind = program.startsWith('\x7fELF') ? 'binary' : ''
    return [[`built ${name}`, [...hashes.map((each) => sha256(each).slice(0, 12)), age, kind].join(' ')]]
  })
  return Object.fromEntries(built)
}

const maxSources = 200

/**
 * Whether something built is older than a change of its sources: `due` when its time says so too, so the next build makes it again; else
 * `older`. Empty when it is newer, or not there.
 */
export function builtAge(built: string, sources: readonly string[]): '' | 'older' | 'due' {
  const at = createdAtMs(built)
  if (at === 0 || !sources.some((path) => changedAtMs(path) > at)) return ''
  const says = modifiedAtMs(built) ?? 0
  return sources.some((path) => (modifiedAtMs(path) ?? 0) > says) ? 'due' : 'older'
}

/** A target that its own rule makes from other files, as a program from its sources. A check makes no file, a compiler no script. */
function isBuilt(name: string, rule: string, text: ReadText): boolean {
  const [head = '', ...recipe] = rule.split('\n')
  const compiles = recipe.length === 0 || /\b(?:CC|CXX|LD|cc|gcc|g\+\+|clang|rustc|go build)\b/.test(rule)
  if (compiles && text(name)?.startsWith('#!') === true) return false
  const isObject = /\.o(?:bj)?$/.test(name)
  const makesIt = recipe.some(
    (line) =>
      line.includes('$@') || line.split(/[\s"'>=]+/).includes(name) || (isObject && /\s-c\s/.test(line)),
  )
  const isCheck = recipe.some((line) => kindOfCommand(line.trim()) === 'test')
  return /:+[ \t]*[^\s#]/.test(head) && !isCheck && (makesIt || recipe.length === 0)
}

const everyRecipe =
  /^(?:\.IGNORE|\.ONESHELL|vpath)\b|^\s*(?:export\s+|override\s+)?(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|GNUMAKEFLAGS|V?PATH)\s*[:?+!]*=/
const usualShell = anyOf([
  /\bPATH\s*[:?+]*=\s*(?:(?:\$[({](?:CURDIR|PWD)[)}]|\.)\/)?(?:node_modules\/\.|\.?venv\/)bin:\$[({]PATH[)}]$/,
  /\bSHELL\s*[:?+!]*=\s*(?:\/usr\/bin\/env\s+|\/(?:usr\/(?:local\/)?)?bin\/)?(?:ba|z|da|k)?sh\b[^/]*$/,
  /SHELLFLAGS\s*[:?+]*=\s*-\w*e.*c\s*$/,
  /MAKEFLAGS\s*[:?+]*=\s*(?:(?:--no-print-directory|--warn-undefined-variables|--no-builtin-(?:rules|variables)|--silent|-[jrRs]\d*|--output-sync\S*)\s*)+$/,
])

/** A file in a definition: its name and a hash, which shows a change but not the content. Empty when the file does not exist. */
export function fingerprint(path: string, content: string | null): readonly string[] {
  return content === null ? [] : [`${path} (${sha256(content.trim()).slice(0, 12)})`]
}
