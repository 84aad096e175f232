import { anyOf } from '../../core/any-of.ts'
import { captures } from '../../core/captures.ts'
import { type Imported, importedInPython } from './tested-names.ts'

/**
 * Tests in a file that do not test what they seem to: skipped by a value that is named elsewhere, never registered, or of code that the
 * file itself replaced. Their number is counted with the skipped ones.
 */
export function untestedIn(path: string, code: string): number {
  if (/\.pyi?$/.test(path))
    return (
      replacedInPython(code) +
      neverAwaited(code) +
      neverCollected(code) +
      (code.match(generators)?.length ?? 0)
    )
  return /\.[cm]?[jt]sx?$/.test(path)
    ? skippedByName(code) +
        skippedInside(code) +
        neverCalled(code) +
        overNothing(code) +
        replacedInScript(code)
    : 0
}

/** Assertions that cannot fail, because they compare a value with itself, or that a test may leave out by a condition. */
export function looseIn(code: string): number {
  return [conditional, withItself, swallowed, notAwaited, inverted].reduce(
    (sum, pattern) => sum + (code.match(pattern)?.length ?? 0),
    0,
  )
}

const conditional =
  /(?:\b(?:it|test)(?:\.\w+){0,9}\([^\n]{0,300}\{|\bdef test\w*\([^\n]{0,300}:|\bfunc(?:tion)? [tT]est\w*\([^{;]{0,300}\{|(?:\btest\]|@Test\b|\[(?:Fact|Theory|Test\w*)\b)[^{;]{0,300}\{)\s{1,200}if\b[^\n]{0,300}?\s{0,200}(?:\{\s{0,200})?return[ \t]*;?[ \t]*(?=[\n}])|^[ \t]*if\b(?![^\n]{0,300}\b(?:assert|require)\b[^\n]{0,300}\{)[^\n]{0,300}?(?:\)|:|,\s*do:)\s{0,200}(?:\{\s{0,200})?(?:await )?(?:self\.)?(?:assert|expect)(?!\w*\.fail)/gm
const withItself =
  /\bassert\w*(?:\.\w+)?\([ \t]*([^\n,]{0,40}\([^\n]{0,80}?\)),[ \t]*\1[ \t]*\)|\bexpect\(([^\n]{0,40}\([^\n]{0,80}?\))\)\.to\w+\(\2\)|^[ \t]*assert (\S[^\n]{0,40}\([^\n]{0,80}\)) == \3[ \t]*$/gm

/** In a chain or a block that drops what the assertion throws, or behind `&&`. */
const swallowed = anyOf(
  [
    /=>\s*(?:\{\s*)?(?:return |await )?(?:assert|expect)\b[^\n;]{0,300}?(?:;?\s*\n\s*[})\]]{1,5})?\s*\.(?:catch\(|then\((?:null|undefined),)\s*(?:async )?\(?\w*\)?\s*=>\s*(?:\{\s*\}|undefined|null|0)\s*\)(?=\s*;?\s*(?:$|\}))/,
    /\bPromise\.(?:allSettled|race|any)\([^;\n]{0,200}=>\s*(?:\{\s*)?(?:assert|expect)\b/,
    /^[ \t]*(?!(?:const|let|var|return|if|while)\b)(?=\S)(?![^\n]{0,200}=>)[^\n]{1,200}&& *(?:assert|expect)[\w.]*\(/,
    /\btry\s*\{[^}]{0,500}\b(?:assert|expect)\b[^}]{0,500}\}\s*(?:finally\s*\{\s*return\b|catch[^{}]{0,100}\{\s*console\.\w+\([^\n}]*\s*\})/,
    /\btry:[ \t]*\n[^\n]*\bassert\b[^\n]*\n\s*except\b[^\n]*:\s*(?:print|logg\w+\.\w+)\([^\n]*$(?!\n[ \t]+raise\b)/,
  ],
  'gm',
)
/** Statements with a promise of an assertion that nothing waits for, and assertions without a comparison. */
const notAwaited =
  /(?<=[;{})\w'"]\s{0,20}\n)[ \t]*(?:expect\([^\n]*\)\.(?:resolves|rejects)\.[^\n]*|assert\.(?:rejects|doesNotReject)\([^\n]*)\)[ \t]*;?[ \t]*$(?!\n\s*[.)\]])|(?<=[;{})\w'"]\s{0,20}\n)[ \t]*(?:import|[\w.]+)\([^\n]*\)\.then\((?![^\n]*\b(?:done|resolve|reject|next)\b)[^\n]*\b(?:assert|expect)\b[^\n]*\)[ \t]*;?[ \t]*$(?!\n\s*[.)\]])|^[ \t]*expect\((?:[^(),=<>!&|\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)(?:\.(?:not\.)?to[A-Z]\w*)?[ \t]*;?[ \t]*$(?!\n\s*\.)/gm
/** It passes when the assertion fails. */
const inverted =
  /\b(?:throws|rejects)\(\s*(?:async )?\(\) =>\s*(?:\{\s*)?(?:assert|expect)\b|\bexpect\(\s*(?:async )?\(\) =>\s*(?:\{\s*)?(?:assert|expect)\b[^;\n]*\)\.(?:toThrow|rejects)|\braises\(AssertionError[^\n]*\):\s*\n\s*assert\b/g

/** Loops over a list that the file leaves empty. */
function overNothing(code: string): number {
  const loops = captures(
    code,
    /\bof ([\w$]{1,40})\)\s*(?:\{\s*)?(?:it|test)\b|\b([\w$]{1,40})\.forEach\([^\n]{0,200}\s*(?:it|test)\(/g,
  )
  const empty = new Set(captures(code, /\b(?:const|let|var) ([\w$]+)(?![\w$])[^=\n]{0,200}= *\[\s*\]/g))
  const filled = new Set(captures(code, /\b([\w$]+)\.(?:push|unshift|splice)\(|^[ \t]*([\w$]+) *=/gm))
  return loops.filter((name) => empty.has(name) && !filled.has(name)).length
}

/** `{ skip: slow }`, `{ skip }` or `options` in a call of a test, where the value is set to something true in the file. */
function skippedByName(code: string): number {
  const declared = [...code.matchAll(declaration)]
  const [set, options] = ['set', 'options'].map(
    (kind) => new Set(declared.flatMap(({ groups }) => (groups?.[kind] === undefined ? [] : [groups.name]))),
  )
  return [...code.matchAll(testHead)].filter(([, text = '', name = '']) => {
    const [, key = '', value = key] = /\b(skip|todo)\b(?:\s*:\s*([\w$]+))?\s*[,}]/.exec(text) ?? []
    return key === '' ? options?.has(name) : set?.has(value)
  }).length
}

const declaration =
  /\b(?:const|let|var)\s+(?<name>[\w$]+)\s*=\s*(?=(?<set>true\b|!0|[1-9]|['"\x60])|(?<options>\{[^}]{0,500}?(?:\b(?:skip|todo)\b|\[)))/g
const testHead =
  /\b(?:it|test|describe|suite)(?:\.\w+){0,9}\(\s*(?:'[^'\n]{0,300}'|"[^"\n]{0,300}"|`[^`\n]{0,300}`)\s*,\s*(?:\{([^}\n]{0,300}\})|([\w$]+)\s*,)/g

/** `c.skip()` in a test that takes `c`, or of a usual name of what a test takes. */
function skippedInside(code: string): number {
  const taken = new Set(['ctx', 'task'])
  for (const [, name = ''] of code.matchAll(
    /\b(?:it|test)\b[^\n]{0,300}?[(,]\s*(?:async\s+)?(?:function\s*\w*\s*)?\(?(\w+)(?:\s*=>|\)\s*(?:=>|\{))/g,
  ))
    taken.add(name)
  const calls = [...code.matchAll(/(?:^|[{;]|=>)[ \t]*(\w+)\.(?:skip|todo)\(\s*(?:\)|['"`])/gm)]
  return calls.filter(([, name = '']) => taken.has(name) && !/^(?:t|test|it|suite|context)$/.test(name))
    .length
}

/** Functions with tests or assertions in them whose name is nowhere else. */
function neverCalled(code: string): number {
  const counts = new Map<string, number>()
  const add = (name: string, by: number): unknown => counts.set(name, (counts.get(name) ?? 0) + by)
  for (const [name] of code.matchAll(/[\w$]+/g)) add(name, 1)
  const alone = captures(
    code,
    /^[ \t]*(?:const|let|var) (\w+) = (?:async )?\([^)\n]*\) =>[ \t]*(?:\{\s*)?(?:assert|expect)\b/gm,
  )
  const found = code.matchAll(
    /^(?:async )?function ([\w$]+)\([^)]{0,500}\)[^\n]*\{\n([\s\S]{0,10000}?)^\}|^const ([\w$]+) = (?:async )?\([^)]{0,500}\) => \{\n([\s\S]{0,10000}?)^\}/gm,
  )
  const withTests = [...found].flatMap(([, one, inOne, two = '', inTwo = '']) =>
    /\b(?:it|test)\(\s*['"`]/.test(inOne ?? inTwo) ? [one ?? two] : [],
  )
  for (const name of alone) add(name, -1)
  return (
    alone.filter((name) => counts.get(name) === 0).length +
    withTests.filter((name) => counts.get(name) === 1).length
  )
}

/** Functions that a test replaces by its own, and whose result it then asserts. */
function replacedInScript(code: string): number {
  const asserted = /\b(?:assert|expect)\w*(?:\.\w+)?\((?=\s*(?:await )?(?:[\w.]+\.)?(\w+)\()/g
  const [head = '', ...tests] = code.split(/\n(?=[ \t]*(?:it|test)\b)/)
  const found = [head, ...tests].flatMap((part, at) => {
    const mocks = part.match(/\b(?:(?:vi|jest)\.(?:mock|doMock)|mock\.module)\([\s\S]{0,600}?(?=\)\n|$)/g)
    const listed = mocks?.flatMap((text) =>
      captures(
        text,
        /[{,]\s*(\w+): (?:(?:async )?(?:\([^)\n]{0,200}\)|\w+)[^=\n]{0,80}=>|(?:vi|jest|mock)\.fn\(\s*(?=\S)[^)])/g,
      ),
    )
    const names = [...captures(part, replacingInScript), ...(listed ?? [])]
    const calls = new Set(names.length === 0 ? [] : captures(at === 0 ? code : part, asserted))
    return names.filter((name) => calls.has(name))
  })
  return new Set(found).size
}

const replacingInScript =
  /\bspyOn\(\s*[\w.]+,\s*['"](\w+)['"]\s*\)\s*\.mock(?:Implementation|Return|Resolved)|\b(?:mock\.method|stub)\(\s*[\w.]+,\s*['"](\w+)['"],\s*\S|^\w+\.(\w+) = (?:async )?(?:\([^)\n]{0,200}\) =>|function\b|\w+ =>|(?:vi|jest|mock)\.fn\()/gm

/** Calls of coroutines and generators with assertions in them that nothing awaits or reads. */
function neverAwaited(code: string): number {
  const found = code.matchAll(
    /^([ \t]+)(async )?def (\w+)\(\)[^\n]*:\n((?:(?:\1[ \t][^\n]*)?\n){1,40})\1\3\(\)[ \t]*$/gm,
  )
  return [...found].filter(
    ([, , isAsync, , body = '']) =>
      /\bassert/.test(body) && (isAsync !== undefined || /\byield\b/.test(body)),
  ).length
}

/** Tests of the same name, of which only the last one runs, and in classes that pytest does not collect and nothing names. */
function neverCollected(code: string): number {
  const tests = captures(code, /^(?:async )?def (test\w*)\(/gm)
  const last = new Map([...code.matchAll(/\w+/g)].map(({ 0: word, index }) => [word, index]))
  const classes = code.matchAll(
    /^class (?!\w*(?:Test|Spec))(\w+)(?:\(\s*(?:object\s*)?\))?:((?:\n+[ \t]+[^\n]*)*)/gm,
  )
  const unnamed = [...classes].filter(
    ({ 1: name = '', 2: body = '', index }) =>
      /^[ \t]+(?:async )?def test/m.test(body) && last.get(name) === index + 'class '.length,
  )
  return tests.length - new Set(tests).size + unnamed.length
}

/** Tests that pytest does not run, because they are generators. */
const generators =
  /^([ \t]*)def test\w*\([^)\n]{0,300}\)[^\n]{0,300}:\n(\1[ \t]+)(?:\S[^\n]*\n(?:(?:\2[^\n]*)?\n){0,40}?\2)?yield\b/gm

function replacedInPython(code: string): number {
  const parts = code.split(
    /\n(?=[ \t]*(?:async[ \t]+)?(?:def|class)[ \t])(?<!\n[ \t]*@[^\n]*\n)|\n(?=[ \t]*@)(?<!\n[ \t]*@[^\n]*\n)/,
  )
  const taken = new Set(
    captures(code, /^from \S+ import ([^\n]*)/gm).flatMap((names) => names.match(/\w+/g) ?? []),
  )
  const loaded = new Set(captures(code, /^[ \t]*(?:from|import)[ \t]+(\w+)/gm))
  const calls = assertedCalls(code)
  const callsOf = callsOfImports(importedInPython(code))
  return parts.flatMap((part) => {
    const isTest = /^(?:[ \t]*@[^\n]*\n)*[ \t]*(?:async[ \t]+)?def test/.test(part)
    const replaced = [...part.matchAll(replacing)].map((found) => found.slice(1).filter(Boolean))
    const asserted = isTest && replaced.length > 0 ? assertedCalls(part) : calls
    return [
      ...captures(part, redefining).filter((name) => taken.has(name) && calls.has(name)),
      ...replaced.filter(([object = '', name = '']) =>
        callsOf(object, name).some((call) => asserted.has(call)),
      ),
      ...captures(part, /\bsys\.modules\[\s*['"](\w+)['"]\s*\]\s*=/g).filter((name) => loaded.has(name)),
      ...(importing.exec(part) ?? []),
      ...(part.includes('super()') ? [] : (part.match(overriding) ?? [])),
    ]
  }).length
}

/** What lines with an assertion call: `add`, `sums.add`, and `Sums.add` for `Sums(1).add(2)`. */
function assertedCalls(code: string): ReadonlySet<string> {
  const lines = code.match(/\bassert\w*\b[^\n]*/g)?.join('\n') ?? ''
  const ofObjects = lines.matchAll(/(?<![\w.])([\w.]+)\([^()\n]*\)\.(\w+)(?=\()/g)
  return new Set([
    ...captures(lines, /(?<![\w.])([\w.]+)\(/g),
    ...[...ofObjects].map(([, object, name]) => `${object}.${name}`),
  ])
}

/** How a file calls `name` of an object or a module: by its path, and by the names under which it is imported. */
function callsOfImports(imports: readonly Imported[]): (object: string, name: string) => readonly string[] {
  const locals = new Map<string, Set<string>>()
  const real = new Map<string, string>()
  for (const { name, local, from, isModule } of imports) {
    const key = isModule === true ? name : `${from}.${name}`
    locals.set(key, (locals.get(key) ?? new Set()).add(local))
    if (isModule === true && local !== name) real.set(local, name)
  }
  return (object, name) => {
    const objects = new Set([object, real.get(object) ?? object])
    return [...objects].flatMap((each) => [
      ...[each, ...(locals.get(each) ?? [])].map((local) => `${local}.${name}`),
      ...(locals.get(`${each}.${name}`) ?? []),
    ])
  }
}

/** The object and the name of what is replaced: by `monkeypatch` or `mock`, or by an assignment to a module. */
const replacing =
  /\bsetattr\(\s*([\w.]+),\s*['"](\w+)['"]|\b(?:setattr|patch)\(\s*['"]([\w.]+)\.(\w+)['"]|\bpatch\.object\(\s*([\w.]+),\s*['"](\w+)['"]|\bvars\((\w+)\)\[['"](\w+)['"]\]\s*=|\b(\w+)\.__dict__\[['"](\w+)['"]\]\s*=|^(?!self\b)(\w+)\.(\w+)[ \t]*=[ \t]*(?:lambda\b|\w+$)/gm
const redefining =
  /^(?:async )?def (\w+)\(|^[ \t]+global (\w+)$|^(\w+)[ \t]*=(?!=)|\bglobals\(\)\[\s*['"](\w+)['"]\s*\]\s*=|^[ \t]*(\w+)\.__code__\s*=/gm
/** Methods of a test case that decide whether it passes. */
const overriding =
  /^[ \t]+(?:async )?def (?:assert(?:Equal|NotEqual|True|False|Is|IsNone|In|Raises|AlmostEqual|(?:Dict|List|Count)Equal)|run|fail|_callTestMethod)\(self|^[ \t]+failureException[ \t]*=/gm
const importing = /\bbuiltins\.__import__[ \t]*=|\bexec\([^\n]*\.replace\(/
