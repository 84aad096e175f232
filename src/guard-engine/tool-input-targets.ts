import { type CallTargets, interpret, patchedPaths, type WriteTarget } from '../shell/index.ts'
import type { World } from '../shell/world.ts'
import { commandLines } from './tool-input/command-lines.ts'
import { type InputField, inputFields, keyMeanings } from './tool-input/input-fields.ts'
import { toolVerbs } from './tool-input/tool-verbs.ts'

/** Files that statements of SQL write to. */
function sqlTargets(statement: string): readonly string[] {
  return [...statement.matchAll(writes)].map(([, path = '']) => path)
}

/** PostgreSQL and DuckDB copy to a file, MySQL selects into one, SQLite makes one of a database. */
const writes =
  /\b(?:copy\b[^;]*?\bto|into\s+(?:out|dump)file|vacuum\b[^;']*\binto|attach(?:\s+database)?|export\s+database)\s+'([^'\n]+)'/gi

interface ToolInput {
  readonly tool: string
  readonly input: unknown
  readonly cwd: string
  readonly world: World
}

/**
 * A tool nothing is known of, judged by its name and by what its input names: paths are written to when the name suggests writing,
 * or when content comes along and the name does not say that it only reads.
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
      ...nothing,
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
    // What a link leads to stays as it is.
    if (verbs.links && /^(?:src|source|target|existing)/i.test(key) && has(isLinkName)) return false
    // What has a name need not be a file.
    if (/^(?:new_?)?name$/i.test(key) && !hasContent && !verbs.onFiles) return false
    if (keyMeanings.isPath(key)) return true
    const mayBePath = !(/\s/.test(value.trim()) || keyMeanings.isContent(key))
    return mayBePath && (key === '' || (verbs.onFiles && verbs.writes && !has(keyMeanings.isPath)))
  }

  function isResultHere({ key }: InputField): boolean {
    return keyMeanings.isResult(key) || (/^target_?(?:path|file)$/i.test(key) && has(isUrl))
  }

  /** Of the files in a directory, or of all; in one file a pattern is something to look for. */
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

const nothing: CallTargets = { writes: [], runs: [], opaque: [] }

function isLinkName(key: string): boolean {
  return /^(?:(?:link_?)?(?:path|name)|link|to|dest|destination|alias)$/i.test(key)
}

function isUrl(key: string): boolean {
  return /^(?:url|href)$/i.test(key)
}

/** Only its wildcards keep their meaning. */
function unquotedGlob(value: string): string {
  return value.replaceAll(/[^\w*?[\]{},./~-]/g, '\\$&')
}

/** The paths a server may take a value for: as it stands, without quotes and blanks around it, as a URI, with its percent signs read. */
function pathSpellings(value: string): readonly string[] {
  const bare = value.trim().replace(/^(["'`])(.*)\1$/s, '$2')
  const found = new Set(/^file:/i.test(bare) ? [] : [value])
  let path = bare
  for (let round = 0; round < maxRounds; round += 1) {
    path = path.replace(/^file:(?:\/\/[^/]*)?/i, '')
    // Some servers end a name at a NUL, Windows at the name of a stream.
    for (const each of [path, path.split('\0')[0] ?? '', path.replace(/::?\$DATA$/i, '')]) found.add(each)
    path = decoded(path)
  }
  found.delete('')
  return [...found]
}

/** A value may be encoded more than once. */
const maxRounds = 3

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
