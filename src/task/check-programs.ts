import { basename } from 'node:path'
import { callsIn, isRegistration } from './lost-registrations.ts'
import { comparedCalls, linesOf } from './test-body.ts'

interface Definitions {
  readonly steps: readonly { readonly command: string }[]
  /** What the steps run: rules of make, scripts. */
  readonly definitions: readonly string[]
  readonly paths: readonly string[]
  readonly changed: readonly string[]
  readonly read: (path: string) => Promise<string>
}

/** Changed sources with the `main` of a program that is made for a step alone: a test, whatever its name. */
export async function checkPrograms(of: Definitions): Promise<ReadonlySet<string>> {
  const { steps, definitions, paths, read } = of
  const changed = of.changed.filter((path) => /\.(?:c|cc|cpp|cxx|java)$/.test(path))
  if (changed.length === 0) return new Set()
  const builds = paths.filter((path) => isBuildFile.test(path)).slice(0, maxBuilds)
  const texts = await Promise.all(builds.map(read))
  const calls = texts.flatMap(callsIn)
  const started = calls
    .filter((call) => isRegistration(call) && !hasArguments(call.words))
    .flatMap(({ words }) => words)
  const installed = calls.filter(({ name }) => name === 'install').flatMap(({ words }) => words)
  const sourcesOf = calls.flatMap(({ name, words: [program = '', ...sources] }) =>
    /executable$/.test(name) && started.includes(program) && !installed.includes(program) ? sources : [],
  )
  const rules = definitions.join('\n')
  const heads = [...rules.matchAll(/^([\w./-]+)\s*:(?!=)(.*)$/gm)]
  const inRules = new Set(rules.split('\n'))
  const outside = texts
    .join('\n')
    .split('\n')
    .filter((line) => /^[^\t#.][^=]*:/.test(line) && !inRules.has(line))
  const needed = new Set(outside.flatMap((line) => line.replace(/^[^:]*:/, '').split(/\s+/)))
  const made = heads.some(([, program = '', needs = '']) => needs.trim() !== '' && needed.has(program))
    ? ''
    : rules
  const classes = steps.flatMap(
    ({ command }) => /\bjava\b.*\s([\w.]+)$/.exec(command)?.[1]?.split('.').at(-1) ?? [],
  )
  const isNamed = (path: string): boolean => {
    const stem = RegExp.escape(basename(path).replace(/\.\w+$/, ''))
    return (
      sourcesOf.some((each) => basename(each) === basename(path)) ||
      new RegExp(`(?<![\\w-])${stem}\\.(?:o|c|cc|cpp|cxx)\\b`).test(made)
    )
  }
  const found = new Set<string>()
  for (const path of changed) {
    const isClass = path.endsWith('.java') && classes.includes(basename(path, '.java'))
    if (!isClass && !isNamed(path)) continue
    const text = await read(path)
    if (isClass ? comparedCalls(linesOf(text)).length > 0 : /\bmain\s*\(/.test(text)) found.add(path)
  }
  return found
}

const isBuildFile = /(?:^|\/)(?:CMakeLists\.txt|meson\.build|(?:GNUm|[mM])akefile)$/
const maxBuilds = 100

/** A program that is tested by its arguments is the product. */
function hasArguments(words: readonly string[]): boolean {
  const at = words.indexOf('COMMAND')
  return at >= 0 && /^(?!WORKING_DIRECTORY|COMMAND_EXPAND_LISTS)./.test(words[at + 2] ?? '')
}
