import { captures } from '../../core/captures.ts'
import type { TestFileFacts } from '../contract.ts'

const maxNames = 60
const maxDefined = 300
const maxBody = 600

type Names = Required<Pick<TestFileFacts, 'taken' | 'own'>>

/**
 * The names that a test file takes from the project and uses, and the functions that it defines itself and calls. `helper` returns the text
 * of a module beside the tests that takes nothing from the project: what it defines counts as the file's own. null: not known for the
 * language, or too many.
 */
export function testedNames(
  path: string,
  code: string,
  helper: (place: string) => string | null,
): Names | null {
  const isPython = /\.pyi?$/.test(path)
  if (path.endsWith('.go'))
    return bounded({
      taken: captures(code, /(?<![\w.]|func )([A-Za-z]\w*)\(/g),
      own: captures(code, /\b(\w+) :?= func\(/g),
    })
  if (!isPython && !/\.[cm]?[jt]sx?$/.test(path)) return null
  const rest = code.replaceAll(isPython ? pythonImport : scriptImport, '')
  const imported = isPython
    ? importedInPython(code).filter(({ from }) => !libraries.test(from))
    : importedInScript(code)
  const defined = [...new Map(definitions(rest, isPython).map((each) => [each.name, each])).values()]
  if (defined.length + imported.length > maxDefined) return null
  const uses = ({ local }: Imported): boolean => wordOf(local).test(rest)
  const [copies, real] = [[] as Imported[], [] as Imported[]]
  for (const each of imported) {
    const text = helper(each.from)
    const isCopy = text !== null && definitions(text, isPython).some(({ name }) => name === each.name)
    ;(isCopy ? copies : real).push(each)
  }
  const used = real.filter(uses)
  const own = defined.filter(({ name, body, isProperty }) => {
    const called = isProperty
      ? new RegExp(String.raw`\b(?:assert|expect)\w*\b[^\n]{0,200}\.${RegExp.escape(name)}\(`)
      : new RegExp(String.raw`(?<!\b(?:def|function) )(?<![\w.$])${RegExp.escape(name)}\(`)
    return called.test(rest) && !used.some(({ local }) => local !== name && passesOn(body, local))
  })
  const modules = isPython ? used.flatMap(({ local }) => captures(rest, callOf(local))) : []
  const elsewhere = !isPython && /['"`]\.{1,2}\/[^'"`\n]/.test(rest) ? ['*'] : []
  return bounded({
    taken: [...used.map(({ name }) => name), ...modules, ...elsewhere],
    own: [...own, ...copies.filter(uses)].map(({ name }) => name),
  })
}

/** What a file tests no longer, one sentence each. */
export function testsItsOwn(was: TestFileFacts, is: TestFileFacts): readonly string[] {
  if (was.taken === undefined || is.taken === undefined || is.cases === 0) return []
  const copies = is.own?.filter((name) => was.taken?.includes(name) && !was.own?.includes(name)) ?? []
  if (copies.length > 0) return copies.map((name) => `tests ${name} of its own, not that of the project`)
  return was.loads && is.loads && was.taken.length > 0 && is.taken.length === 0
    ? ['uses nothing of the project any more']
    : []
}

export interface Imported {
  /** Where it is defined. */
  readonly name: string
  /** In the file. */
  readonly local: string
  readonly from: string
  /** `import a`, not `from a import b`. */
  readonly isModule?: true
}

const scriptImport =
  /^import\b([^'";]{0,1000})['"]([^'"\n]+)['"]|^[ \t]*(?:const|let|var) ([^=;]{1,300}?) = (?:await )?(?:import|require)\(\s*['"]([^'"\n]+)['"]\s*\)/gm

function importedInScript(code: string): readonly Imported[] {
  return [...code.matchAll(scriptImport)].flatMap(([, one, two, three, four]) => {
    const from = two ?? four ?? ''
    return isLibraryOfTests(from) ? [] : namesIn(one ?? three ?? '', from)
  })
}

/** What Node and the libraries of tests offer. A package may be the project itself. */
export function isLibraryOfTests(module: string): boolean {
  return ofTests.test(module)
}

const ofTests =
  /^(?:node:|@jest\/|(?:assert|fs|path|os|util|url|events|vitest|jest|mocha|chai|sinon|ava|tap|bun:test)(?:\/[\w-]+)?$)/

function namesIn(text: string, from: string): readonly Imported[] {
  return [...text.matchAll(/([\w$]+)(?:\s+as\s+|\s*:\s*)([\w$]+)|\*\s*as\s+([\w$]+)|([\w$]+)/g)].flatMap(
    ([, name, local, all, plain]) => {
      const found = name ?? all ?? plain ?? ''
      return /^(?:type|from)$/.test(found) ? [] : [{ name: found, local: local ?? found, from }]
    },
  )
}

const pythonImport =
  /^[ \t]*from ([\w.]+) import (\([^)]{0,1000}\)|[^\n]+)|^[ \t]*import ([\w.]+)(?: as (\w+))?[ \t]*$/gm
const libraries = /^(?:__future__|pytest|unittest|typing|os|sys|re|json|pathlib|datetime|collections)\b/

export function importedInPython(code: string): readonly Imported[] {
  return [...code.matchAll(pythonImport)].flatMap(([, from, names = '', module, alias]) => {
    if (from !== undefined) return namesIn(names, from)
    const place = module ?? ''
    return [{ name: place, local: alias ?? place, from: place, isModule: true }]
  })
}

/** `add` in `sums.add(1, 2)`. */
function callOf(local: string): RegExp {
  return new RegExp(String.raw`(?<![\w.])${RegExp.escape(local)}\.(\w+)\(`, 'g')
}

interface Definition {
  readonly name: string
  readonly body: string
  readonly isProperty: boolean
}

const inScript =
  /^[ \t]*(?:export )?(?:(?:async )?function\*? (?<function>[\w$]+)\(|(?:const|let|var) (?<variable>[\w$]+)(?:: [^=\n]{1,80})? = (?:(?:async )?(?:\([^)\n]{0,200}\)(?:: [\w<>[\]| ]{1,80})? =>|\w+ =>|function\b)|(?:vi|jest|mock)\.fn\())|(?<=[{,]\s{0,40})(?<property>[\w$]+): (?:(?:async )?(?:\([^)\n]{0,200}\)(?:: [\w<>[\]| ]{1,80})? =>|\w+ =>|function\b)|(?:vi|jest|mock)\.fn\()/gm
const inPython =
  /^[ \t]*(?:(?:async )?def (?<function>\w+)\(|(?<variable>\w+) = (?:lambda\b|(?:mock\.|mocker\.)?(?:(?:Async|Magic)?Mock|create_autospec)\())/gm

function definitions(code: string, isPython: boolean): readonly Definition[] {
  return [...code.matchAll(isPython ? inPython : inScript)].map((found) => ({
    name: found.groups?.function ?? found.groups?.variable ?? found.groups?.property ?? '',
    body: bodyOf(code, found.index),
    isProperty: found.groups?.property !== undefined,
  }))
}

/** The line, and what is indented below it. */
function bodyOf(code: string, start: number): string {
  const [first = '', ...lines] = code.slice(start, start + maxBody).split('\n')
  const indent = /^\s*/.exec(first)?.[0].length ?? 0
  const end = lines.findIndex((line) => line.trim() !== '' && (/^\s*/.exec(line)?.[0].length ?? 0) <= indent)
  return [first, ...(end === -1 ? lines : lines.slice(0, end))].join('\n')
}

/** Whether the result of the function can come from there: a call by itself does not count. */
function passesOn(body: string, local: string): boolean {
  const name = RegExp.escape(local)
  const alone = new RegExp(
    String.raw`^[ \t]*(?:void |await )?${name}(?:\.\w+)?\([^\n]*\);?[ \t]*$|\.fn\(${name},`,
    'gm',
  )
  return wordOf(local).test(body.replaceAll(alone, ''))
}

function bounded({ taken, own }: Names): Names | null {
  const names = { taken: [...new Set(taken)].toSorted(), own: [...new Set(own)].toSorted() }
  return names.taken.length + names.own.length > maxNames ? null : names
}

function wordOf(name: string): RegExp {
  return new RegExp(String.raw`(?<![\w.$])${RegExp.escape(name)}(?![\w$])`)
}
