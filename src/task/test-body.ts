import { captures } from '../core/captures.ts'

/** The lines of a test: its decorators, and those behind the one that names it, without comments. */
export function bodyOf(lines: readonly string[], name: string): readonly string[] {
  const start = startOf(lines, name)
  if (start < 0) return []
  const length = lines.slice(start + 1).findIndex((line) => caseStart.test(line))
  // A test on one line has its body there.
  const first = (lines[start] ?? '').replace(/^.*?(?:=>|\)\s*:)/, '').trim()
  const isPython = /^(?:async\s+)?def\s/.test(lines[start] ?? '')
  const above = isPython ? lines.slice(lines.lastIndexOf('', start) + 1, start) : []
  const decorator = above.findIndex((line) => line.startsWith('@'))
  return [
    ...(decorator < 0 ? [] : above.slice(decorator)),
    first,
    ...lines.slice(start + 1, length < 0 ? undefined : start + 1 + length),
  ].filter((line) => line !== '' && !/^(?:\/\/|#|\*)/.test(line))
}

const caseStart =
  /^(?:(?:it|test|specify|describe|suite)\b[.\w]*\s*[(`]|(?:async\s+)?def\s+test|class\s|func\s+(?:Test|Fuzz)|#\[|@(?:Test|pytest|unittest|mock|patch)|TEST(?:_\w)?\()/

/** Whether a test lost or changed a line, but for its layout, or gained one that can end it early. */
export function provesLess(before: readonly string[], now: readonly string[]): boolean {
  return (
    bare(before.join(' ')) !== bare(now.join(' ')) &&
    (before.some((line) => !isKept(line, now)) || mayEvade(before, now))
  )
}

const evades =
  /^#\s*define\b|\b(?:return|try|catch|except|skip|TODO|xfail|exit|if|patch|setattr|monkeypatch|spyOn|(?:mock|jest|vi)\.\w+)\b/

/** Whether a line is still there. A list of parameters may grow at its end; with `isTable`, any list. */
export function isKept(line: string, lines: readonly string[], { isTable = false } = {}): boolean {
  if (!/\w/.test(line)) return true
  const is = bare(line)
  const counts = countsOf(lines)
  if (counts.has(is)) return true
  if (!is.startsWith('@') && !(isTable && /[\]}]\)?$/.test(is))) return false
  const start = is.replace(/[\])]+$/, '')
  return [...counts.keys()].some((each) => each.startsWith(start) && !/^[\w.]/.test(each.slice(start.length)))
}

/** How often a line is there, without its layout. Known for each list of lines, because every line of a file asks for it. */
function countsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const known = bareLines.get(lines) ?? countEach(lines.map(bare))
  bareLines.set(lines, known)
  return known
}

const bareLines = new WeakMap<readonly string[], ReadonlyMap<string, number>>()

function countEach(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/**
 * A name that a test now gets from somewhere else: its own, that of its class, or one that it uses is bound once more around it, or a
 * module that its file imports is replaced by a mock. Takes the texts of the file before and after.
 */
export function rebound(before: string, after: string, name: string): string | null {
  const [was, is] = [before, after].map((text) => {
    const lines = text.split('\n')
    return { lines, around: linesAround(lines, name) }
  })
  if (was === undefined || is === undefined) return null
  const body = bodyOf(linesOf(before), name)
  const local = new Set(body.flatMap(boundBy))
  const classes = was.around.flatMap((line) => /^\s*class\s+(\w+)/.exec(line)?.[1] ?? [])
  const used = body
    .join('\n')
    .replaceAll(/(['"`])(?:\\.|(?!\1).)*\1/g, '')
    .matchAll(/[A-Za-z_]\w*/g)
  const crates = was.around.flatMap((line) => /^use\s+(\w+)/.exec(line)?.[1] ?? [])
  const words = [...[...used].map(([word]) => word), ...crates]
  const own = new Set([name, ...classes, ...runnerMethods, ...words])
  const inside = new Set([...bodyOf(linesOf(after), name), ...parametersOf(is.lines, name)].flatMap(boundBy))
  const shadow = words.find((word) => !local.has(word) && inside.has(word))
  if (shadow !== undefined) return shadow
  const [bound, binds] = [was, is].map(({ around }) => countEach(around.flatMap(boundBy)))
  const old = new Set(was.lines)
  const imported = importsOf(linesOf(before))
  const mocked = is.lines.filter((line) => !old.has(line)).flatMap((line) => mocks.exec(line)?.[1] ?? [])
  return (
    [...own].find((word) => !local.has(word) && (binds?.get(word) ?? 0) > (bound?.get(word) ?? 0)) ??
    mocked.find((path) => imported.includes(path)) ??
    null
  )
}

/** Names that a test calls. */
export function callsOf(body: readonly string[]): readonly string[] {
  return body.flatMap((line) => captures(line, /(?<![.\w])([A-Za-z_]\w*)\(/g))
}

/** What a value in the text of a program looks like. */
export const literal = String.raw`(?:[-+]?\d[\w.]*|true|false|null|None|True|False|nil|'(?:[^'\\]|\\.){0,300}'|"(?:[^"\\]|\\.){0,300}")`
const call = String.raw`\b([A-Za-z_]\w*)\(\s*${literal}(?:\s*,\s*${literal})*\s*\)`
const comparison = new RegExp(
  String.raw`(?:\b(\w+)\s*\(\s*(?:[\w$]+(?:::|\.|->))*)?${call}(?:\)?\s*[!=]==?|\s*,)\s*${literal}|(?:assert|expect|equal|same|check)\w{0,40}\(\s*${literal}\s*,\s*(?:[\w$]+(?:::|\.|->))*${call}`,
  'gi',
)

/**
 * Calls with values whose results are compared with values, and by what: `assert(add(1, 2) == 3)`, `same(add(1, 2), 3)`. What has them is a
 * check, whatever its name.
 */
export function comparedCalls(
  lines: readonly string[],
): readonly { readonly call: string; readonly by: string }[] {
  return lines.flatMap((line) =>
    [...line.matchAll(comparison)].map(([, by = '', first, second = '']) => ({ call: first ?? second, by })),
  )
}

const keywords = 'if|elif|unless|while|for|switch|return|else|throw|case|await|yield|new|not|assert|when'

/** Whether lines define a function or a macro of this name. */
export function defines(lines: readonly string[], name: string): boolean {
  if (!/^\w+$/.test(name) || new RegExp(`^(?:${keywords})$`).test(name)) return false
  const definition = new RegExp(
    String.raw`(?:\b(?:def|fn|func|fun|function|sub|macro_rules!|const|let|var)|^#\s*define)\s+${name}\b|^(?!(?:${keywords})\b)(?:(?:[\w:<>*&[\]]+\s+)+[*&]*${name}\s*\([^;]*(?:\{.*|\)|,)|${name}\s*\([^;]*\)[^;()]*\{)$`,
  )
  return lines.some((line) => definition.test(line))
}

/** A call that a test passes values to. */
export const callWithValues = String.raw`(?<!\)\s*[.](?:\w{1,100}[.]){0,20})${call}`

/** The values with which a test compares, without those that it passes to what it tests: `3` of `assert.equal(add(1, 2), 3)`. */
export function valuesIn(lines: readonly string[]): ReadonlySet<string> {
  const passed = new RegExp(callWithValues, 'g')
  const values = lines.flatMap((line) => line.replaceAll(passed, '').match(new RegExp(literal, 'g')) ?? [])
  return new Set(values.map(unquoted))
}

export function unquoted(text: string): string {
  return text.trim().replace(/^(['"])(.*)\1$/, '$2')
}

/**
 * The line that gives a name another value in a module, from outside: `calc.add = …`, `globals()['add'] = …`, `setattr(calc, 'add', …)`. A
 * macro does so from everywhere, a function of Go from a file of tests (`isNear`).
 */
export function replaces(line: string, names: readonly string[], isNear = true): string | null {
  const [, macro, moved] = /^#\s*define\s+(\w+)|^func\s+(?:\([^)]*\)\s*)?(\w+)\(/.exec(line) ?? []
  if (macro !== undefined || moved !== undefined || !isNear)
    return (
      [macro, isNear ? moved : undefined].find((each) => each !== undefined && names.includes(each)) ?? null
    )
  const [, attribute, key, set, global] =
    /^(?!\s*(?:self|this|cls|exports|module\.exports)\.)\s*[\w.]+\.(\w+)\s*=(?!=)|\[['"](\w+)['"]\]\s*=(?!=)|^\s*setattr\([^,]+,\s*['"](\w+)['"]|^\s*global\s+(\w+)/.exec(
      line,
    ) ?? []
  const name = attribute ?? key ?? set ?? global
  return name !== undefined && names.includes(name) ? name : null
}

/** Whether a line that a test or its helper gained can end it early. */
export function mayEvade(before: readonly string[], now: readonly string[]): boolean {
  const [had, has] = [countsOf(before), countsOf(now)]
  const isAgain = (line: string): boolean => (has.get(bare(line)) ?? 0) > (had.get(bare(line)) ?? 0)
  return now.some(
    (line) => evades.test(line) && !failing.test(line) && (!isKept(line, before) || isAgain(line)),
  )
}

/** A comparison that fails: `if (add(2, 2) != 4) return 1;` */
const failing = /^if\b.*[!=]=.*\b(?:return|exit)\b[ (]*[1-9]/

/** What runs a test of unittest. */
const runnerMethods = ['run', '__call__', '__getattribute__', '__init__', '_callTestMethod']

const mocks = /\b(?:jest|vi|mock)\.(?:mock|doMock|module|unstable_mockModule)\(\s*['"](?:node:)?([^'"]+)/

/** The parameters of a test that have a value of their own. */
function parametersOf(lines: readonly string[], name: string): readonly string[] {
  const head = (lines[startOf(lines, name)] ?? '').replace(/^\s*(?:async\s+)?def\s+/, '')
  return captures(head, /[(,]\s*(\w+(?:\s*:[^=,()]*)?\s*=[^>])/g)
}

/** Where a test is named; -1 where it is not. */
function startOf(lines: readonly string[], name: string): number {
  const named = [`'${name}'`, `"${name}"`, `\`${name}\``, `${name}(`]
  return lines.findIndex((line) => named.some((each) => line.includes(each)))
}

/** The lines of the blocks around a test, without what is deeper in them. */
function linesAround(lines: readonly string[], name: string): readonly string[] {
  const start = startOf(lines, name)
  if (start < 0) return []
  const outward = (side: readonly string[]): readonly string[] => {
    let depth = indentOf(lines[start] ?? '')
    return side.filter((line) => {
      if (line.trim() === '' || indentOf(line) > depth) return false
      depth = indentOf(line)
      return true
    })
  }
  return [...outward(lines.slice(0, start + 1).reverse()), ...outward(lines.slice(start + 1))]
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

/** The names that a line binds, but for imports. */
function boundBy(line: string): readonly string[] {
  const text = line.trim()
  const [, several] = /^(?:const|let|var)\s*[{[]([^}\]]*)[}\]]\s*=/.exec(text) ?? []
  if (several !== undefined) return captures(several, /(\w+)\s*(?=,|$|=)/g)
  const [, declared, assigned] =
    /^(?:export\s+)?(?:async\s+)?(?:(?:const|let|var|function\*?|class|def|fn|func|mod|type|macro_rules!|#\s*define)\s+(?:mut\s+)?(\w+)|(\w+)\s*(?::[^=]*)?=(?![=>]))/.exec(
      text,
    ) ?? []
  const bound = declared ?? assigned
  return bound === undefined ? [] : [bound]
}

/** A file of the project may have moved, what the test is written with may not. */
export function losesImport(before: readonly string[], after: readonly string[]): boolean {
  const isOwn = (module: string): boolean => module.startsWith('.')
  return (
    before.filter(isOwn).length > after.filter(isOwn).length ||
    before.some((module) => !isOwn(module) && !after.some((one) => `${one}/`.startsWith(`${module}/`)))
  )
}

/** The modules that a test imports: what it tests, and what it tests with. */
export function importsOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap(
    (line) => /(?:from|import|require\()\s*['"](?:node:)?([^'"]+)['"]/.exec(line)?.[1] ?? [],
  )
}

/** A line without its layout. */
function bare(line: string): string {
  return line
    .replaceAll(/[\s;]+/g, '')
    .replaceAll(/["`]/g, "'")
    .replaceAll(/,(?=[)\]}]|$)/g, '')
}

/** The name of a failed test in its source: pytest adds the parameters of a case to it. */
export function nameOf(failure: string): string {
  const name = failure.split(/ [>›] |::/).at(-1) ?? failure
  return (failure.includes('::') ? name.replace(/\[.*\]$/, '') : name).replace(/ \(.*$/, '')
}

/** Without their indentation. */
export function linesOf(text: string): readonly string[] {
  return text.split('\n').map((line) => line.trim())
}
