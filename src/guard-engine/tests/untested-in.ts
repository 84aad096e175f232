/**
 * Tests in a file that do not test what they seem to: skipped by a value that is named elsewhere, never registered, or of code that the
 * file itself replaced. Their number is counted with the skipped ones.
 */
export function untestedIn(path: string, code: string): number {
  if (/\.pyi?$/.test(path)) return replacedInPython(code)
  return /\.[cm]?[jt]sx?$/.test(path)
    ? skippedByName(code) + skippedInside(code) + neverCalled(code) + overNothing(code)
    : 0
}

/** Assertions that cannot fail, because they compare a value with itself, or that a test may leave out by a condition. */
export function looseIn(code: string): number {
  return [...code.matchAll(conditional), ...code.matchAll(withItself)].length
}

const conditional =
  /(?:\b(?:it|test)(?:\.\w+){0,9}\([^\n]{0,300}\{|\bdef test\w*\([^\n]{0,300}:|\bfunc(?:tion)? [tT]est\w*\([^{;]{0,300}\{|(?:\btest\]|@Test\b|\[(?:Fact|Theory|Test\w*)\b)[^{;]{0,300}\{)\s{1,200}if\b[^\n]{0,300}?\s{0,200}(?:\{\s{0,200})?return[ \t]*;?[ \t]*(?=[\n}])|^[ \t]*if\b(?![^\n]{0,300}\b(?:assert|require)\b[^\n]{0,300}\{)[^\n]{0,300}?(?:\)|:|,\s*do:)\s{0,200}(?:\{\s{0,200})?(?:await )?(?:self\.)?(?:assert|expect)(?!\w*\.fail)/gm
const withItself =
  /\bassert\w*(?:\.\w+)?\([ \t]*([^\n,]{0,40}\([^\n]{0,80}?\)),[ \t]*\1[ \t]*\)|\bexpect\(([^\n]{0,40}\([^\n]{0,80}?\))\)\.to\w+\(\2\)|^[ \t]*assert (\S[^\n]{0,40}\([^\n]{0,80}\)) == \3[ \t]*$/gm

/** Loops over a list that the file leaves empty. */
function overNothing(code: string): number {
  const loops = code.matchAll(
    /\bof ([\w$]{1,40})\)\s*(?:\{\s*)?(?:it|test)\b|\b([\w$]{1,40})\.forEach\([^\n]{0,200}\s*(?:it|test)\(/g,
  )
  return [...loops].filter(([, one, two]) => {
    const name = (one ?? two ?? '').replaceAll('$', String.raw`\$`)
    return (
      new RegExp(String.raw`\b(?:const|let|var) ${name}\b[^=\n]*= *\[\s*\]`).test(code) &&
      !new RegExp(String.raw`\b${name}\.(?:push|unshift|splice)\(|^\s*${name} *=`, 'm').test(code)
    )
  }).length
}

/** `{ skip: slow }`, `{ skip }` or `options` in a call of a test, where the value is set to something true in the file. */
function skippedByName(code: string): number {
  const declared = (name: string, value: string): boolean =>
    new RegExp(String.raw`\b(?:const|let|var)\s+${name.replaceAll('$', String.raw`\$`)}\s*=\s*${value}`).test(
      code,
    )
  const calls = [...code.matchAll(testHead)]
  return calls.filter(([, options = '', name = '']) => {
    const [, key = '', value = key] = /\b(skip|todo)\b(?:\s*:\s*([\w$]+))?\s*[,}]/.exec(options) ?? []
    if (key !== '') return declared(value, String.raw`(?:true\b|!0|[1-9]|['"\x60])`)
    return name !== '' && declared(name, String.raw`\{[^}]*(?:\b(?:skip|todo)\b|\[)`)
  }).length
}

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

/** Functions with tests in them whose name is nowhere else. */
function neverCalled(code: string): number {
  const found = code.matchAll(
    /^(?:async )?function ([\w$]+)\([^)]*\)[^\n]*\{\n([\s\S]*?)^\}|^const ([\w$]+) = (?:async )?\([^)]*\) => \{\n([\s\S]*?)^\}/gm,
  )
  return [...found].filter(([, one, inOne, two, inTwo]) => {
    const name = one ?? two ?? ''
    return /\b(?:it|test)\(\s*['"`]/.test(inOne ?? inTwo ?? '') && code.split(name).length === 2
  }).length
}

function replacedInPython(code: string): number {
  const parts = code.split(
    /\n(?=[ \t]*(?:async[ \t]+)?(?:def|class)[ \t])(?<!\n[ \t]*@[^\n]*\n)|\n(?=[ \t]*@)(?<!\n[ \t]*@[^\n]*\n)/,
  )
  const isTest = (part: string): boolean => /^(?:[ \t]*@[^\n]*\n)*[ \t]*(?:async[ \t]+)?def test/.test(part)
  const asserted = (name: string, text: string): boolean =>
    new RegExp(String.raw`\bassert\w*\b[^\n]*(?<![\w.])${name}\(`).test(text)
  const imported = (name: string): boolean =>
    new RegExp(String.raw`^\s*(?:from|import)\s+${name}\b`, 'm').test(code)
  return parts.flatMap((part) => {
    const replaced = [...part.matchAll(replacing)].map((found) => found.slice(1).filter(Boolean))
    const modules = [...part.matchAll(/\bsys\.modules\[\s*['"](\w+)['"]\s*\]\s*=/g)].map(
      ([, name = '']) => name,
    )
    const again = [...part.matchAll(redefining)].map((found) => found.slice(1).find(Boolean) ?? '')
    const isTaken = (name: string): boolean =>
      new RegExp(String.raw`^from \S+ import [^\n]*\b${name}\b`, 'm').test(code)
    return [
      ...again.filter((name) => isTaken(name) && asserted(name, code)),
      ...replaced.filter(([object = '', name = '']) =>
        callsOf(object, name, code).some((call) => asserted(call, isTest(part) ? part : code)),
      ),
      ...modules.filter(imported),
      ...(importing.exec(part) ?? []),
      ...(part.includes('super()') ? [] : (part.match(overriding) ?? [])),
    ]
  }).length
}

/** How a file calls `name` of an object or a module, as patterns: by its path, by the names under which it is imported, and of an instance. */
function callsOf(object: string, name: string, code: string): readonly string[] {
  const at = object.lastIndexOf('.')
  const [parent, last] = [object.slice(0, Math.max(at, 0)), object.slice(at + 1)]
  const imported = (from: string, what: string): readonly string[] =>
    [
      ...code.matchAll(
        new RegExp(String.raw`^\s*from ${from} import (?:\([^)]*|[^\n]*)\b${what}\b(?: as (\w+))?`, 'gm'),
      ),
    ].map(([, alias = what]) => alias)
  const aliases = [...code.matchAll(new RegExp(String.raw`^\s*import ${object} as (\w+)`, 'gm'))].map(
    ([, alias = '']) => alias,
  )
  const objects = [object, ...aliases, ...(at === -1 ? [] : imported(parent, last))]
  const real = new RegExp(String.raw`^\s*import (\S+) as ${object}\b`, 'm').exec(code)?.[1]
  return [
    ...(real === undefined || real === object ? [] : callsOf(real, name, code)),
    ...objects.map((each) => String.raw`${each.replaceAll('.', String.raw`\.`)}(?:\([^()\n]*\))?\.${name}`),
    ...imported(object, name),
  ]
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
