import { percentDecoded } from '../core/percent-decoded.ts'
import { type CallTargets, interpret, patchedPaths, type WriteTarget } from '../shell/index.ts'
import { quoteWord } from '../shell/quote-word.ts'
import type { World } from '../shell/world.ts'
import { type InputField, inputFields, inputObjects, keyMeanings } from './tool-input/input-fields.ts'
import { type ToolVerbs, toolVerbs } from './tool-input/tool-verbs.ts'

/** Files that statements of SQL write to. */
function sqlTargets(statement: string): readonly string[] {
  return [...statement.matchAll(writes)].map(([, path = '']) => path)
}

/** PostgreSQL and DuckDB copy to a file, MySQL selects into one, SQLite creates one from a database. */
const writes =
  /\b(?:copy\b[^;]*?\bto|into\s+(?:out|dump)file|vacuum\b[^;']*\binto|attach(?:\s+database)?|export\s+database)\s+'([^'\n]+)'/gi

interface ToolInput {
  readonly tool: string
  readonly input: unknown
  readonly cwd: string
  readonly world: World
}

/**
 * Judges an unknown tool by its name and its input. Paths count as written if the name suggests writing, or if there is content and the
 * name does not suggest reading only.
 */
export function toolInputTargets({ tool, input, cwd, world }: ToolInput): CallTargets {
  const fields = inputFields(input)
  const verbs = toolVerbs(tool, input, fields)
  const has = (means: (key: string) => boolean): boolean => fields.some(({ key }) => means(key))
  const hasContent = has(keyMeanings.isContent)
  const directories = [
    ...new Set([
      cwd,
      ...fields.filter(({ key }) => keyMeanings.isDirectory(key)).map(({ value }) => absolute(value, cwd)),
    ]),
  ]
  const paths = fields.filter(isPathHere)
  const written = verbs.writes ? paths : paths.filter(isResultHere)
  const globs = verbs.writes && verbs.removes ? [...written, ...fields.filter(isGlobHere)] : []
  const lines = [
    ...(verbs.runs || !verbs.reads ? commandLines(input, verbs) : []),
    ...globs
      .filter(({ value }) => /[*?[{]/.test(value))
      .map(({ value }) => `rm -rf -- ${unquotedGlob(value)}`),
  ]
  const found: readonly CallTargets[] = [
    {
      runs: [],
      opaque: [],
      writes: [
        ...written.flatMap(({ value }) => targets(value)),
        ...(verbs.writes ? fields.flatMap(patched) : []),
        ...fields.filter(({ key }) => /^(?:sql|query|statement)$/i.test(key)).flatMap(fromSql),
      ],
    },
    ...lines.flatMap((line) => directories.map((directory) => interpret(line, directory, world))),
  ]
  const into = found.flatMap((each) => each.into ?? [])
  return {
    writes: found.flatMap((each) => each.writes),
    runs: found.flatMap((each) => each.runs),
    opaque: found.flatMap((each) => each.opaque),
    ...(into.length > 0 && { into }),
  }

  function isPathHere({ key, value }: InputField): boolean {
    if (value === '' || value.length > 4096) return false
    if (verbs.copies && keyMeanings.isSource(key)) return false
    // The target of a link does not change.
    if (verbs.links && /^(?:src|source|target|existing)/i.test(key) && has(isLinkName)) return false
    // A named thing need not be a file.
    if (/^(?:new_?)?name$/i.test(key) && !hasContent && !verbs.onFiles) return false
    if (keyMeanings.isPath(key)) return true
    const mayBePath = !(/\s/.test(value.trim()) || keyMeanings.isContent(key))
    return mayBePath && (key === '' || (verbs.onFiles && verbs.writes && !has(keyMeanings.isPath)))
  }

  function isResultHere({ key }: InputField): boolean {
    return keyMeanings.isResult(key) || (/^target_?(?:path|file)$/i.test(key) && has(isUrl))
  }

  /** Pattern for the files in a directory, or for all. In a single file a pattern is a search text. */
  function isGlobHere({ key }: InputField): boolean {
    return (
      keyMeanings.isGlob(key) &&
      paths.every(({ value }) => world.resolve(absolute(value, cwd)).kind === 'directory')
    )
  }

  function targets(value: string): WriteTarget[] {
    return pathSpellings(value).flatMap((spelling) =>
      directories.map((directory) => {
        const path = absolute(spelling, directory)
        const below = verbs.removes ? { below: { look: path } } : {}
        return { path, how: `the tool ${tool} changes it`, written: value, ...below }
      }),
    )
  }

  function patched({ key, value }: InputField): WriteTarget[] {
    if (!/^(?:patch|patches|diff|input|text|content|changes|)$/i.test(key)) return []
    if (!verbs.words.some((word) => word === 'patch' || word === 'diff' || word === 'apply')) return []
    return patchedPaths(value, 0).flatMap(targets)
  }

  function fromSql({ value }: InputField): WriteTarget[] {
    return sqlTargets(value).flatMap(targets)
  }

  function absolute(path: string, directory: string): string {
    if (path.startsWith('/')) return path
    return path.startsWith('~/') ? `${world.home}${path.slice(1)}` : `${directory}/${path}`
  }
}

function isLinkName(key: string): boolean {
  return /^(?:(?:link_?)?(?:path|name)|link|to|dest|destination|alias)$/i.test(key)
}

function isUrl(key: string): boolean {
  return /^(?:url|href)$/i.test(key)
}

/** Only the wildcards keep their meaning. */
function unquotedGlob(value: string): string {
  return value.replaceAll(/[^\w*?[\]{},./~-]/g, '\\$&')
}

/** The paths that a server may read from a value: literal, without quotes and spaces around it, as a URI, percent-decoded. */
function pathSpellings(value: string): readonly string[] {
  const bare = value.trim().replace(/^(["'`])(.*)\1$/s, '$2')
  const found = new Set(/^file:/i.test(bare) ? [] : [value])
  let path = bare
  for (let round = 0; round < maxRounds; round += 1) {
    path = path.replace(/^file:(?:\/\/[^/]*)?/i, '')
    // Some servers end a name at NUL, Windows at the name of a stream.
    for (const each of [path, path.split('\0')[0] ?? '', path.replace(/::?\$DATA$/i, '')]) found.add(each)
    path = percentDecoded(path)
  }
  found.delete('')
  return [...found]
}

/** A value may be encoded more than once. */
const maxRounds = 3

/** The commands that a tool would run, as shell lines. */
function commandLines(input: unknown, { words, runs, types }: ToolVerbs): readonly string[] {
  if (typeof input === 'string') return [input]
  return inputObjects(input).flatMap((object) => {
    const entries = Object.entries(object)
    const given = programLines(entries, words.at(-1) ?? '')
    const fed = entries.flatMap(([key, value]) => {
      if (typeof value !== 'string' || !/^(?:stdin|input)$/i.test(key)) return []
      return given.map((line) => `printf '%s\\n' ${quoteWord(value)} | {\n${line}\n}`)
    })
    const code = runs || types !== null ? entries.flatMap(([key, value]) => codeLines(key, value, types)) : []
    return [...given, ...fed, ...code]
  })
}

type Entries = readonly (readonly [string, unknown])[]

/** A literal line, a program with a list of arguments, or a list of all words. */
function programLines(entries: Entries, toolName: string): readonly string[] {
  const program = entries.find(
    ([key, value]) => /^(?:command|cmd|program|executable|file)$/i.test(key) && typeof value === 'string',
  )?.[1]
  return entries.flatMap(([key, value]) => {
    if (typeof value === 'string') {
      if (keyMeanings.isCommand(key)) return [value]
      return /^(?:args|arguments)$/i.test(key) ? [`${program ?? toolName} ${value}`] : []
    }
    const words = asWords(value)
    if (words === null) return []
    if (/^commands$/i.test(key)) return [words.join('\n')]
    if (!/^(?:command|cmd|args|argv|arguments)$/i.test(key)) return []
    const line = words.map(quoteWord).join(' ')
    return typeof program === 'string' ? [`${program} ${line}`] : [line, `${toolName} ${line}`]
  })
}

function codeLines(key: string, value: unknown, types: ToolVerbs['types']): readonly string[] {
  const isTyped =
    (types !== null && /^(?:input|keys|line|stdin|chars)$/i.test(key)) ||
    (types === 'surely' && /^(?:text|data)$/i.test(key))
  if (!(isTyped || keyMeanings.isCode(key))) return []
  // A notebook cell is a list of lines.
  const code = typeof value === 'string' ? value : asWords(value)?.join('')
  if (code === undefined) return []
  return [...(isTyped && !(types === 'perhaps' && isProgramText(code)) ? [code] : []), ...asCommands(code)]
}

/** Not a shell line: a call with arguments, a declaration. */
function isProgramText(code: string): boolean {
  return /^\s*(?:(?:\w+\s*=\s*)?(?:await\s+)?[\w.]+\((?!\))|(?:const|let|var|import|from|def)\s)/.test(code)
}

function asWords(value: unknown): readonly string[] | null {
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : null
}

/** Code in an unknown language, read as the common languages would. */
function asCommands(code: string): readonly string[] {
  const shell = [...code.matchAll(/^[ \t]*(?:[\w, ]+=\s*)?(?:!{1,2}|%(?:sx|system)\s)(.+)$/gm)].map(
    ([, line = '']) => line,
  )
  const cell = /^\s*%%(?:bash|sh|zsh|system|sx|!|script\s+\S*sh)\b[^\n]*\n([\s\S]*)$/.exec(code)?.[1]
  const written = /^[ \t]*%%(?:write)?file\s+(?:-a\s+)?(.+)$/m.exec(code)?.[1]
  return [
    `python3 -c ${quoteWord(code)}`,
    `node -e ${quoteWord(code)}`,
    ...shell,
    ...(cell === undefined ? [] : [cell]),
    ...(written === undefined ? [] : [`: > ${quoteWord(written.trim())}`]),
  ]
}
