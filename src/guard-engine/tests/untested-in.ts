/**
 * Tests in a file that do not test what they seem to: skipped by a value that is named elsewhere, never registered, or of code that the
 * file itself replaced. Their number is counted with the skipped ones.
 */
export function untestedIn(path: string, code: string): number {
  if (/\.pyi?$/.test(path))
    return replacedInPython(code) + neverAwaited(code) + (code.match(generators)?.length ?? 0)
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
const swallowed =
  /=>\s*(?:\{\s*)?(?:return |await )?(?:assert|expect)\b[^\n;]{0,300}?(?:;?\s*\n\s*[})\]]{1,5})?\s*\.(?:catch\(|then\((?:null|undefined),)\s*(?:async )?\(?\w*\)?\s*=>\s*(?:\{\s*\}|undefined|null|0)\s*\)(?=\s*;?\s*(?:$|\}))|\bPromise\.(?:allSettled|race|any)\([^;\n]{0,200}=>\s*(?:\{\s*)?(?:assert|expect)\b|^[ \t]*(?!(?:const|let|var|return|if|while)\b)(?=\S)(?![^\n]{0,200}=>)[^\n]{1,200}&& *(?:assert|expect)[\w.]*\(|\btry\s*\{[^}]{0,500}\b(?:assert|expect)\b[^}]{0,500}\}\s*(?:finally\s*\{\s*return\b|catch[^{}]{0,100}\{\s*console\.\w+\([^\n}]*\s*\})|\btry:[ \t]*\n[^\n]*\bassert\b[^\n]*\n\s*except\b[^\n]*:\s*(?:print|logg\w+\.\w+)\([^\n]*$(?!\n[ \t]+raise\b)/gm
/** Statements with a promise of an assertion that nothing waits for, and assertions without a comparison. */
const notAwaited =
  /(?<=[;{})\w'"]\s{0,20}\n)[ \t]*(?:expect\([^\n]*\)\.(?:resolves|rejects)\.[^\n]*|assert\.(?:rejects|doesNotReject)\([^\n]*)\)[ \t]*;?[ \t]*$(?!\n\s*[.)\]])|(?<=[;{})\w'"]\s{0,20}\n)[ \t]*(?:import|[\w.]+)\([^\n]*\)\.then\((?![^\n]*\b(?:done|resolve|reject|next)\b)[^\n]*\b(?:assert|expect)\b[^\n]*\)[ \t]*;?[ \t]*$(?!\n\s*[.)\]])|^[ \t]*expect\((?:[^(),=<>!&|\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)(?:\.(?:not\.)?to[A-Z]\w*)?[ \t]*;?[ \t]*$(?!\n\s*\.)/gm
/** It passes when the assertion fails. */
const inverted =
  /\b(?:throws|rejects)\(\s*(?:async )?\(\) =>\s*(?:\{\s*)?(?:assert|expect)\b|\bexpect\(\s*(?:async )?\(\) =>\s*(?:\{\s*)?(?:assert|expect)\b[^;\n]*\)\.(?:toThrow|rejects)|\braises\(AssertionError[^\n]*\):\s*\n\s*assert\b/g

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

/** Functions with tests or assertions in them whose name is nowhere else. */
function neverCalled(code: string): number {
  const alone = [
    ...code.matchAll(
      /^[ \t]*(?:const|let|var) (\w+) = (?:async )?\([^)\n]*\) =>[ \t]*(?:\{\s*)?(?:assert|expect)\b/gm,
    ),
  ]
  const unused = alone.filter(
    ([, name]) => code.split(name ?? '').length - 1 === alone.filter(([, each]) => each === name).length,
  ).length
  const found = code.matchAll(
    /^(?:async )?function ([\w$]+)\([^)]*\)[^\n]*\{\n([\s\S]*?)^\}|^const ([\w$]+) = (?:async )?\([^)]*\) => \{\n([\s\S]*?)^\}/gm,
  )
  const untested = [...found].filter(([, one, inOne, two, inTwo]) => {
    const name = one ?? two ?? ''
    return /\b(?:it|test)\(\s*['"`]/.test(inOne ?? inTwo ?? '') && code.split(name).length === 2
  })
  return unused + untested.length
}

/** Functions that a test replaces by its own, and whose result it then asserts. */
function replacedInScript(code: string): number {
  const [head = '', ...tests] = code.split(/\n(?=[ \t]*(?:it|test)\b)/)
  const found = [head, ...tests].flatMap((part, at) => {
    const names = [...part.matchAll(replacingInScript)].map((each) => each.slice(1).find(Boolean) ?? '')
    const mocks = [
      ...part.matchAll(/\b(?:(?:vi|jest)\.(?:mock|doMock)|mock\.module)\([\s\S]{0,600}?(?=\)\n|$)/g),
    ]
    const listed = mocks.flatMap(([text]) =>
      [
        ...text.matchAll(
          /[{,]\s*(\w+): (?:(?:async )?(?:\([^)\n]{0,200}\)|\w+)[^=\n]{0,80}=>|(?:vi|jest|mock)\.fn\(\s*(?=\S)[^)])/g,
        ),
      ].map(([, name = '']) => name),
    )
    const scope = at === 0 ? code : part
    return [...names, ...listed].filter((name) =>
      new RegExp(String.raw`\b(?:assert|expect)\w*(?:\.\w+)?\(\s*(?:await )?(?:[\w.]+\.)?${name}\(`).test(
        scope,
      ),
    )
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

/** Tests that pytest does not run, because they are generators. */
const generators =
  /^([ \t]*)def test\w*\([^)\n]{0,300}\)[^\n]{0,300}:\n(\1[ \t]+)(?:\S[^\n]*\n(?:(?:\2[^\n]*)?\n){0,40}?\2)?yield\b/gm

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
