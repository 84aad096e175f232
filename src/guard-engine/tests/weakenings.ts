import { counted } from '../../core/counted.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { shorten } from '../../core/shorten.ts'
import { sha256 } from '../../io/sha256.ts'
import type { EvidenceHistory, TestFileFacts, TestInventory } from '../contract.ts'
import { doesAsMuch } from '../evidence/coverage/covers.ts'
import { isDefiningFile } from '../evidence/hollow-definition.ts'
import { provesNothing } from '../evidence/proves-nothing.ts'
import { testsRun } from '../history/gate.ts'
import { comparison, isPlainConfig } from './command-definition.ts'
import { testsItsOwn } from './tested-names.ts'

/** What the runners counted, and the tests that are new. */
type TestRuns = Pick<EvidenceHistory, 'byCommand' | 'most' | 'newTests'>

const hashChars = 16

/**
 * What became weaker between two test snapshots, one sentence each. The same weakening has the same sentence. New test files may be removed
 * again.
 */
export function weakenings(
  before: TestInventory | null,
  after: TestInventory | null,
  evidence: TestRuns = { byCommand: {} },
): readonly string[] {
  if (before === null || after === null) return []
  const hasTests = Object.values(before.files).some(({ cases }) => cases > 0)
  return [
    ...weakerFiles(before, after, evidence),
    ...changedDefinitions(before, after, hasTests && ranAsMany(before, after, evidence)),
  ]
}

/** A runner itself says that as many tests ran as there were: more than any earlier run, and all that were written. */
function ranAsMany(before: TestInventory, after: TestInventory, evidence: TestRuns): boolean {
  const written = Object.values(before.files).reduce((sum, { cases }) => sum + cases, 0)
  const ran = Object.values(evidence.byCommand).map((run) => (run.exitCode === 0 ? (testsRun(run) ?? 0) : 0))
  return Math.max(0, ...ran) >= written && fewerTests(evidence, after).length === 0
}

/** Commands whose newest green run executed fewer tests than one before, without those of removed new files, one sentence each. */
export function fewerTests(
  { byCommand, most = {}, newTests = {} }: TestRuns,
  now: TestInventory | null,
): readonly string[] {
  const removed = Object.entries(newTests).filter(([path]) => now !== null && !Object.hasOwn(now.files, path))
  const fewer = removed.reduce((sum, [, cases]) => sum + cases, 0)
  return Object.entries(most).flatMap(([command, before]) => {
    const run = Object.hasOwn(byCommand, command) ? byCommand[command] : undefined
    const ran = run === undefined ? undefined : testsRun(run)
    return run?.exitCode !== 0 || ran === undefined || ran + fewer >= before
      ? []
      : [`${shown(command)} ran ${counted(ran, 'test')}, before it ran ${before}`]
  })
}

/** The subject of the `warned` note about a weakening. */
export function weakeningKey(text: string): string {
  return `weakened:${sha256(text).slice(0, hashChars)}`
}

function weakerFiles(before: TestInventory, after: TestInventory, evidence: TestRuns): readonly string[] {
  const { newTests = {} } = evidence
  const appeared = new Map(
    Object.entries(after.files)
      .filter(([path]) => !Object.hasOwn(before.files, path))
      .map(([path, { hash }]) => [hash, path]),
  )
  const isPlace = testPlaces(before, after, evidence)
  const ending = Object.entries(after.files)
    .filter(([path, { ends }]) => ends && before.files[path]?.ends !== true && !isData.test(path))
    .map(([path]) => `${shown(path)} ends the run before the tests, or keeps them from failing it`)
  let judge: ReturnType<typeof elsewhere> | undefined
  // It counts every assertion of the project, and few changes need that.
  const isElsewhere: ReturnType<typeof elsewhere> = (was, is) => {
    judge ??= elsewhere(before, after, evidence)
    return judge(was, is)
  }
  const weakened = Object.entries(before.files).flatMap(([path, was]) => {
    const is = Object.hasOwn(after.files, path) ? after.files[path] : undefined
    if (is !== undefined) return weaker(path, was, is, isElsewhere)
    if (was.cases === 0) return []
    // A file with the same content and another name was moved, not deleted. It still runs where tests were before.
    const moved = appeared.get(was.hash)
    if (moved !== undefined)
      return isPlace(moved) && !isAside(moved, path)
        ? []
        : [`${shown(path)} with ${counted(was.cases, 'test')} was moved to ${shown(moved)}`]
    return Object.hasOwn(newTests, path) || isElsewhere(was)
      ? []
      : [`${shown(path)} with ${counted(was.cases, 'test')} was deleted`]
  })
  return [...weakened, ...ending]
}

/** Programs that a test starts. */
const isData = /(?:^|\/)_*(?:fixtures?|testdata|data|bin|stubs?)_*\//

/** Whether tests in this place run: those that were there did, or it is named for tests and a runner counted all that are written now. */
function testPlaces(...[before, after, evidence]: Parameters<typeof ranAsMany>): (path: string) => boolean {
  const places = new Set(Object.keys(before.files).map(placeOf))
  const runsAll = [before, after].every((each) => ranAsMany(each, after, evidence))
  return (path) =>
    places.has(placeOf(path)) ||
    (runsAll && /^(?:tests?|specs?|__tests__)\/|[._-](?:test|spec)\.\w+$|(?:^|\/)test_[^/]*\.py$/.test(path))
}

/** The first directory of a path. */
function placeOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : ''
}

/** A place or a name that runners leave out. */
function isAside(path: string, before: string): boolean {
  const aside =
    /(?:^|\/)(?:_[^/]*|\.[^/]+|testdata|fixtures?|archived?|attic|old|backup|bak|disabled|skip(?:ped)?|ignored?|deprecated|unused|tmp)\/|(?:^|\/)[_.][^/]*$|_(?:windows|plan9|js|wasm|wasip1|darwin|linux|android|solaris|aix|freebsd)(?:_\w+)?_test\.go$/
  return (aside.test(path) && !aside.test(before)) || (hasTestName.test(before) && !hasTestName.test(path))
}

const hasTestName = /(?:test|spec|IT\.|\.cy\.|\.e2e\.)[^/]*$/i

/**
 * Whether what a file no longer checks is checked by the suite all the same: as often in the same form, in files that gained as many tests;
 * or with the same values, as in a table, when the runner counted as many tests.
 */
function elsewhere(
  before: TestInventory,
  after: TestInventory,
  evidence: TestRuns,
): (was: TestFileFacts, is?: TestFileFacts) => boolean {
  const isPlace = testPlaces(before, after, evidence)
  const isUnnamed = Object.entries(before.files).some(
    ([path, { cases }]) => cases > 0 && !hasTestName.test(path),
  )
  const now = Object.entries(after.files).filter(
    ([path]) =>
      Object.hasOwn(before.files, path) || (isPlace(path) && !isAside(path, isUnnamed ? '' : 'test')),
  )
  const countOf = (files: readonly TestFileFacts[]): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>()
    for (const check of files.flatMap(({ checks = [] }) => checks))
      counts.set(check, (counts.get(check) ?? 0) + 1)
    return counts
  }
  const sumOf = (files: readonly TestFileFacts[], of: 'skipped' | 'cases'): number =>
    files.reduce((sum, each) => sum + each[of], 0)
  const [old, fresh] = [Object.values(before.files), now.map(([, facts]) => facts)]
  const [had, has] = [countOf(old), countOf(fresh)]
  const changed = now.filter(([path, { hash }]) => before.files[path]?.hash !== hash)
  const gained = changed.reduce(
    (sum, [path, { cases }]) => sum + Math.max(0, cases - (before.files[path]?.cases ?? 0)),
    0,
  )
  const values = changed.map(([, facts]) => facts.values ?? '')
  const isAsMany = ranAsMany(before, after, evidence)
  const isNarrower = sumOf(fresh, 'skipped') > sumOf(old, 'skipped')
  return (was, is) => {
    const kept = countOf(is === undefined ? [] : [is])
    const lost = [...countOf([was])].flatMap(([check, count]) =>
      count > (kept.get(check) ?? 0) ? [check] : [],
    )
    if (isNarrower || was.checks === undefined || lost.length === 0) return false
    const isSame = (check: string): boolean => (has.get(check) ?? 0) >= (had.get(check) ?? 0)
    if (lost.every(isSame) && gained >= was.cases - (is?.cases ?? 0)) return true
    const isListed = (check: string): boolean =>
      check.length > 4 && values.some((each) => each.includes(check.slice(4)))
    return isAsMany && lost.every((check) => isSame(check) || isListed(check))
  }
}

/** Tests that were skipped from the beginning take nothing away: noted ideas, known faults. One that is gone may only have another name. */
function newlyOff(was: TestFileFacts, is: TestFileFacts): number {
  const [before, now] = [new Set(was.names), new Set(is.names)]
  const unnamed = ({ cases, names = [], off = [] }: TestFileFacts): number =>
    cases - (names.length - off.length)
  const gone = before.difference(now).size + Math.max(0, unnamed(was) - unnamed(is))
  return Math.max(0, new Set(is.off).difference(before).size - gone)
}

function weaker(
  path: string,
  was: TestFileFacts,
  is: TestFileFacts,
  isElsewhere: ReturnType<typeof elsewhere>,
): readonly string[] {
  if (was.hash === is.hash) return []
  const name = shown(path)
  const found: string[] = []
  const isFewer = is.cases < was.cases || is.assertions < was.assertions
  if (isFewer && is.skipped <= was.skipped && isElsewhere(was, is)) return []
  found.push(...testsItsOwn(was, is).map((what) => `${name} ${what}`))
  if (was.loads && is.cases > 0 && !is.loads) found.push(`${name} loads nothing of the project any more`)
  if (is.cases < was.cases) found.push(`${name} has ${counted(is.cases, 'test')}, before it had ${was.cases}`)
  if (is.skipped - newlyOff(was, is) > was.skipped)
    found.push(`${name} has ${counted(is.skipped, 'skipped or narrowed test')}, before it had ${was.skipped}`)
  const inverted = (is.inverted ?? 0) - (was.inverted ?? 0)
  if (inverted > Math.max(0, is.cases - was.cases))
    found.push(
      `${name} has ${counted(is.inverted ?? 0, 'test')} that must fail, before it had ${was.inverted ?? 0}`,
    )
  const loose = (is.loose ?? 0) - (was.loose ?? 0)
  if (loose > Math.max(0, is.cases - was.cases))
    found.push(
      `${name} has ${counted(is.loose ?? 0, 'assertion')} that a condition leaves out or that cannot fail, before it had ${was.loose ?? 0}`,
    )
  if (is.assertions < was.assertions)
    found.push(`${name} has ${counted(is.assertions, 'assertion')}, before it had ${was.assertions}`)
  return found
}

function changedDefinitions(
  before: TestInventory,
  after: TestInventory,
  hasRunAll: boolean,
): readonly string[] {
  const moved = movedCommands(before, after)
  const known = new Set(Object.values(before.definitions).flatMap((definition) => definition.split('\n')))
  return Object.entries(before.definitions).flatMap(([command, old]) => {
    const was = withoutAlias(old)
    const now = Object.hasOwn(after.definitions, command) ? after.definitions[command] : undefined
    const is = now === undefined ? undefined : withoutAddedFlags(was, withoutMoves(was, withoutAlias(now)))
    if (
      is === was ||
      moved.has(command) ||
      (was === '' && isFirst(command, is ?? '')) ||
      isWider(was, is ?? '') ||
      isMore(was, is ?? '', { hasRunAll, known })
    )
      return []
    const files = changedFiles(was, is ?? '')
    if (files.length > 0)
      return [
        `the definition of ${shown(command)} changed: ${files.join(', ')}, and such a file can leave tests out or change how they end`,
      ]
    const [gone, fresh] = differences(was, is ?? '')
    const defined = is === undefined || is === '' ? 'it is no longer defined' : `now: ${fresh}`
    const then = was === '' ? 'nothing in the project' : gone
    return [`the definition of ${shown(command)} changed; before: ${then}; ${defined}`]
  })
}

/** Commands whose script was moved: the same file under another name, which another known command runs in the same way. */
export function movedCommands(
  before: TestInventory | null,
  after: TestInventory | null,
): ReadonlySet<string> {
  const fresh = Object.entries(after?.definitions ?? {}).filter(
    ([name]) => before?.definitions[name] === undefined,
  )
  const moved = Object.entries(before?.definitions ?? {}).filter(([command, was]) => {
    const [old, tail] = partsOf(was.split('\n', 1)[0] ?? '')
    if (tail === undefined || !command.includes(old) || after?.definitions[command] !== '') return false
    return fresh.some(([other, is]) => {
      const [name, rest] = partsOf(is.split('\n', 1)[0] ?? '')
      return rest === tail && command.replaceAll(old, name) === other && was.replaceAll(old, name) === is
    })
  })
  return new Set(moved.map(([command]) => command))
}

/** A target of make that only has another target is that target. */
function withoutAlias(definition: string): string {
  return definition.replaceAll(/^([\w-]+): ([\w-]+)\n\2:/gm, '$1:')
}

/** The definition now, with scripts that only have another name under their name before. */
function withoutMoves(was: string, is: string): string {
  const [before, now] = [was, is].map((each) => each.split('\n').map(partsOf))
  return (before ?? []).reduce((text, [old, tail]) => {
    if (tail === undefined || now?.some(([name]) => name === old)) return text
    const moved = now?.find(([name, rest]) => rest === tail && !was.includes(name))
    return moved === undefined ? text : text.replaceAll(moved[0], old)
  }, is)
}

/** The name of a file in a definition, and what it says about its content. */
function partsOf(line: string): readonly [string, string?] {
  const [, name = '', content] = /^([\w./-]+)(:? \S.*)$/.exec(line) ?? []
  return content === undefined || !/[/.]/.test(name) ? [line] : [name, content]
}

/** The files that are new, changed or gone, when nothing else of the definition changed. */
function changedFiles(was: string, is: string): readonly string[] {
  const [before, now] = [was, is].map((each) => each.split('\n').filter((line) => line !== ''))
  const gone = before?.filter((line) => !now?.includes(line)) ?? []
  const fresh = now?.filter((line) => !before?.includes(line)) ?? []
  if (![...gone, ...fresh].every(isDefiningFile)) return []
  const nameOf = (line: string): string => line.slice(0, line.indexOf(' '))
  const names = new Set([...gone, ...fresh].map(nameOf))
  return [...names].map((name) => {
    const [wasThere, isThere] = [gone, fresh].map((lines) => lines.some((line) => nameOf(line) === name))
    // A definition has only some settings of such a file, so one that it did not have before may be old.
    if (/\.(?:toml|ini|cfg|json)$/.test(name)) return `${shown(name)} has changed`
    return `${shown(name)} is ${wasThere && isThere ? 'another' : isThere ? 'new' : 'gone'}`
  })
}

/**
 * Whether the definition only gained linters before or behind its script, scripts that were known, targets and programs of make, comparisons
 * of a shell script, and, where all tests ran, a first configuration of the runner that chooses none.
 */
function isMore(was: string, is: string, { hasRunAll, known }: MoreOptions): boolean {
  const [before, now] = [was, is].map((each) => each.split('\n'))
  if (was === '' || before === undefined || now === undefined) return false
  const old = new Set(before)
  const heads = new Map(before.filter((line) => ruleHead.test(line)).map((line) => [targetOf(line), line]))
  const targets = new Set(before.map(targetOf))
  /** The line before that this one is, with a name or a linter in front of it, or as a target that needs more. */
  const oldOf = (line: string): string | undefined => {
    const head = ruleHead.test(line) ? heads.get(targetOf(line)) : undefined
    return [
      ...[line, ...afterNames(line), line.replace(lintsFirst, '')].filter((each) => old.has(each)),
      ...(head !== undefined && line.startsWith(`${head} `) ? [head] : []),
    ][0]
  }
  const isTarget = (line: string): boolean =>
    !was.includes('.ONESHELL') &&
    ((ruleHead.test(line) && !/\.o:/.test(line) && !targets.has(targetOf(line))) ||
      addedRecipe.test(line) ||
      (/^\t@?[^\t @+;&|<>$`-][^;&|<>$`]*$/.test(line) && /^(?:test|lint)$/.test(kindOfCommand(line.trim()))))
  const isNew = (line: string): boolean =>
    onlyLints.test(line) ||
    known.has(line.replace(/^[\w:-]+: /, '')) ||
    known.has(line) ||
    (hasRunAll && isPlainConfig(line, was)) ||
    comparison.test(line) ||
    (heads.size > 0 && isTarget(line))
  const kept = new Set(now.map(oldOf))
  return (
    before.every((line) => kept.has(line)) && now.every((line) => oldOf(line) !== undefined || isNew(line))
  )
}

/** What is behind the names in front of a line, such as that of a script: only a few have any. */
function afterNames(line: string): readonly string[] {
  const [, ...rest] = /^[\w:.-]+: /.test(line) ? line.split(': ', 4) : []
  return rest.map((_, at) =>
    line
      .split(': ')
      .slice(at + 1)
      .join(': '),
  )
}

function targetOf(line: string): string {
  return line.split(':', 1)[0] ?? ''
}

interface MoreOptions {
  readonly hasRunAll: boolean
  /** Lines of all definitions before. */
  readonly known: ReadonlySet<string>
}

/** A target of make and what it needs. */
const ruleHead = /^(?!\w*[mM]akefile:)[\w./-]+:(?: +(?:[\w./-]+|\$[({]\w+[)}]))*$/
/** Runs a program of the project, compiles its target, or only compiles Python. */
const addedRecipe =
  /^\t@?(?:\.\/[\w./-]+|(?:\$[({](?:CC|CXX)[)}]|cc|gcc|g\+\+|clang(?:\+\+)?|c\+\+)(?: +(?:-c|-o +\$@|-[gOW][\w+-]*|-std=[\w+]+|-[Il][\w./-]*|\$[({](?:C|CXX|CPP|LD)FLAGS[)}]|\$[<^]|[\w./][\w./-]*\.(?:c|cc|cpp|cxx|o)))+|python3? -m (?:compileall|py_compile)(?: [\w./-]+)*)$/

const lints = String.raw`tsc --noEmit|eslint(?: [\w/]+| \.| --max-warnings[= ]0)*|biome (?:check|lint)(?: [\w/]+| \.)*|prettier --check(?: [\w/]+| \.)+|(?:node --check|bash -n|php -l)(?: [\w.][\w./-]*)+`
/** Scripts of a package that cannot change what later commands run. */
const onlyLints = new RegExp(
  String.raw`^[\w:-]+: (?:(?:(?:npm|pnpm|yarn|bun) run [\w:-]+|${lints})(?: && |$))+$`,
)
const lintsFirst = new RegExp(String.raw`^(?:(?:npm run [\w:-]+|${lints}) && )+`)

/** Only one command of the definition changed, and it does at least as much as before: `vitest run --coverage`. */
function isWider(was: string, is: string): boolean {
  const [before, now] = [was, is].map((each) => each.split('\n'))
  if (before === undefined || now?.length !== before.length) return false
  const changed = before.flatMap((line, index) => (line === now[index] ? [] : [[line, now[index] ?? '']]))
  const [[old, line] = []] = changed
  if (changed.length !== 1 || old === undefined || line === undefined || isDefiningFile(line)) return false
  const bare = (each: string): string => each.replace(/^[\t @]+|^[\w:.-]+: /, '').replace(lintsFirst, '')
  // A script without a known check is compared by its hash.
  return !/^\([0-9a-f]{12}\)$/.test(bare(old)) && doesAsMuch(bare(line), bare(old))
}

/**
 * Whether this is the script, target or file without which the command could not run at all. Mere configuration and definitions that always
 * succeed do not count.
 */
function isFirst(command: string, definition: string): boolean {
  return definition.split('\n').some((line) => {
    if (isDefiningFile(line)) return command.includes(line.slice(0, line.indexOf(' ')))
    return !/^\.npmrc: |^pnpm-workspace\.yaml: /.test(line) && provesNothing(line) === null
  })
}

/**
 * Warnings, debug information and optimization that were added to the flags of a C compiler leave no test out, nor do sources that a rule
 * or a compiler gets beside those it had, with rules that compile them.
 */
function withoutAddedFlags(was: string, is: string): string {
  const before = was.split('\n')
  const isOld = (name: string): boolean => was.includes(`${name}.o`) || makesObjects.test(was)
  // Without a recipe it only says when the object is made again.
  const withoutRules = is.replaceAll(objectRule, (rule, name: string, recipe?: string) =>
    was.includes(rule) || (recipe !== undefined && isOld(name)) ? rule : '',
  )
  const after = withoutRules.split('\n')
  const isMore = (line: string, old: string): boolean => {
    const [words, had] = [line.split(/\s+/), old.split(/\s+/)]
    const more = words.filter((word) => !had.includes(word))
    return (
      buildLine.exec(line)?.[0] === buildLine.exec(old)?.[0] &&
      had.every((word) => words.includes(word)) &&
      (!was.includes('$<') || words.find(isSource) === had.find(isSource)) &&
      more.every((word) => isSource(word) || (addedFlag.test(word) && !/\w\s*[:?+]*=/.test(line)))
    )
  }
  const flagsIn = (line: string): readonly string[] => line.replace(compilerFlags, '').trim().split(/\s+/)
  const lines = after.flatMap((line) => {
    const wider =
      buildLine.test(line) &&
      !before.includes(line) &&
      before.find((old) => !after.includes(old) && isMore(line, old))
    if (typeof wider === 'string') return [wider]
    const [start] = compilerFlags.exec(line) ?? []
    if (start === undefined || before.includes(line)) return [line]
    const old = before.find((each) => each.startsWith(start) && !after.includes(each))
    const flags = old === undefined ? [] : flagsIn(old)
    const kept = flagsIn(line).filter((flag) => flags.includes(flag) || !addedFlag.test(flag))
    const needed = flags.filter((flag) => kept.includes(flag) || !levelFlag.test(flag))
    if (kept.join(' ') !== needed.join(' ')) return [line]
    return old === undefined ? (start.includes('+=') ? [] : [line]) : [old]
  })
  return lines.join('\n')
}

/** A rule that only compiles one object, from the source of the same name. No word fits two alternatives, so matching takes linear time. */
const objectRule =
  /\n(?:[\w.][\w./-]*\/)?(\w[\w-]*)\.o[ \t]*:(?: +(?:(?:[\w.][\w./-]*\/)?\1\.(?:c|cc|cpp|cxx)|[\w.][\w./-]*\.(?:h|hpp)))+(\n[\t @]*(?:\$[({](?:CC|CXX)[)}]|cc|gcc|g\+\+|clang(?:\+\+)?|c\+\+)(?: +(?:-[co]|-[gOW][\w+-]*|-std=[\w+]+|-I[\w./-]*|\$[({](?:C|CXX|CPP)FLAGS[)}]|\$[@<^]|(?:[\w.][\w./-]*\/)?\1\.(?:c|cc|cpp|cxx|o)))+)?(?=\n|$)/g
/** Rules and functions that make objects without their names. */
const makesObjects = /%|\$[({](?:\w+:|\w+ )/
function isSource(word: string): boolean {
  return /^[\w./-]+\.(?:c|cc|cpp|cxx|h|hpp|o)$/.test(word)
}
const buildLine =
  /^(?:[\w./-]+: )?(?:[\w./$(){}-]+\s*:(?!=)|\w+\s*[:?+]*=|[\t @]*(?:\$[({](?:CC|CXX)[)}]|cc|gcc|g\+\+|clang(?:\+\+)?|c\+\+)(?=\s))/
const compilerFlags = /^[\w./-]+: (?:CFLAGS|CXXFLAGS)\s*[:?+]*=/
const levelFlag = /^-(?:g\d?|O[0-3gsz]?)$/
const addedFlag = /^-(?:g\d?|O[0-3gsz]?|W(?!no-)[\w+-]+(?:=\d)?|pedantic(?:-errors)?)$/

/** The lines of two definitions that differ, from shortly before the difference. */
function differences(was: string, is: string): readonly [string, string] {
  const [before, now] = [was.split('\n'), is.split('\n')]
  const gone = before.filter((line) => !now.includes(line)).join('\n')
  const fresh = now.filter((line) => !before.includes(line)).join('\n')
  if (gone === '' && fresh === '') return [shown(was), shown(is)]
  const same = [...gone].findIndex((char, index) => char !== fresh[index])
  const start = same > 80 ? same - 40 : 0
  const cut = (text: string): string =>
    text === '' ? 'without it' : shown(start === 0 ? text.trim() : `…${text.slice(start)}`)
  return [cut(gone), cut(fresh)]
}

/** Text of the repository, quoted as data. */
function shown(text: string): string {
  const line = text.replaceAll(/(?<!:)\s*\n\s*/g, '; ').replaceAll(/\s+/g, ' ')
  return JSON.stringify(shorten(line, 160))
}
