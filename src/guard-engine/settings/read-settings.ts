import { basename, dirname } from 'node:path'
import { formatPosition } from '../../core/error.ts'
import { isObject } from '../../core/json-fields.ts'
import { lineAndColumn } from '../../core/jsonc/parse-jsonc.ts'
import { changedAtMs, isMissing } from '../../io/path-kind.ts'
import { readTextInside } from '../../io/read-text-inside.ts'
import { realPath } from '../../io/resolve-links.ts'
import { isInside } from '../seal/guarded-path-matcher.ts'
import { sealOf } from '../seal/seal-files.ts'
import {
  type CheckedValues,
  checkValues,
  jsonPlaces,
  misfit,
  projectProblems,
  type ValueProblem,
} from './check-values.ts'
import { type SettingFile, type SettingsPlace, type SettingsSeal, settingFiles } from './setting-files.ts'
import { type Setting, type SettingValue, type SettingValues, settingTable } from './setting-table.ts'
import { defaultSettings, type Settings, settingsOf } from './settings.ts'

/** `broken`: a setting is invalid. The result has the defaults, but the caller must not continue as usual. */
export type ReadSettings = {
  readonly settings: Settings
  /** Files that differ from the seal. They count as they were sealed. */
  readonly sealed: readonly string[]
} & (
  | { readonly kind: 'read' }
  /** One problem per line, with `file:line:col` or the name of the variable. */
  | { readonly kind: 'broken'; readonly problem: string }
)

interface Layer {
  readonly values: Readonly<Record<string, SettingValue>>
  readonly problems: readonly string[]
}

const maxBytes = 1024 * 1024

/** Files from the weakest to the strongest, key by key, then the environment over all of them. */
export async function readSettings(place: SettingsPlace): Promise<ReadSettings> {
  const layers: (Layer & Pick<SettingFile, 'isUsers'>)[] = []
  const changed: string[] = []
  for (const file of settingFiles(place)) {
    const text = acceptedText(file, place.seal)
    if (text !== undefined) changed.push(file.path)
    const layer =
      text === undefined ? await readFile(file) : text === null ? null : await readText(file, text)
    if (layer !== null) layers.push({ ...layer, isUsers: file.isUsers })
  }
  const variables = readVariables(place.env)
  const problems = [...layers, variables].flatMap((layer) => layer.problems)
  const broken = { kind: 'broken', settings: defaultSettings, sealed: changed } as const
  if (problems.length > 0) return { ...broken, problem: problems.join('\n') }
  const valuesOf = (some: readonly Layer[]) => Object.assign({}, ...some.map((layer) => layer.values))
  const values = valuesOf([...layers, variables])
  const boundary = narrowBoundary(
    valuesOf([...layers.filter(({ isUsers }) => isUsers), variables]),
    valuesOf(layers.filter(({ isUsers }) => !isUsers)),
  )
  if (boundary.problem !== null) return { ...broken, problem: boundary.problem }
  return { kind: 'read', settings: settingsOf({ ...values, ...boundary.values }), sealed: changed }
}

/** The sealed text of a settings file that has changed since; null if it was not there then, undefined if the file itself counts. */
function acceptedText(
  { path, isUsers }: SettingFile,
  seal: SettingsSeal | undefined,
): string | null | undefined {
  if (seal === undefined) return undefined
  const before = seal.files[path]
  const isAccepted = isUsers
    ? !(changedAtMs(path) > seal.startedMs)
    : before === undefined || sealOf(path) === before
  return isAccepted ? undefined : (seal.texts[path] ?? null)
}

/** null when the file does not exist or does not configure the guard. */
async function readFile(setting: SettingFile): Promise<Layer | null> {
  const { path } = setting
  // Most files do not exist. Finding that out by an exception takes a hook ten times as long.
  if (isMissing(path)) return null
  const real = realPath(path)
  const file = readTextInside(dirname(real), basename(real), { maxBytes })
  switch (file.kind) {
    case 'missing':
      return null
    case 'not_a_file':
      // A directory of that name is not settings. Anything else was meant to be read.
      return file.what === 'a directory' ? null : unusable(path, `is ${file.what}, not a file`)
    case 'outside':
      return unusable(path, `cannot be read: ${file.reason}`)
    case 'unreadable':
      return unusable(path, `cannot be read: ${file.reason}`)
    case 'too_large':
      return unusable(path, `is larger than ${maxBytes / 1024 / 1024} MiB`)
    case 'text':
      return readText(setting, file.text)
  }
}

async function readText({ path, kind, isUsers }: SettingFile, whole: string): Promise<Layer | null> {
  if (whole.includes('\uFFFD')) return unusable(path, 'is not UTF-8 text')
  const text = whole.startsWith('\uFEFF') ? whole.slice(1) : whole
  const check = isUsers ? checkValues : checkProjectValues
  return kind === 'harness' ? readHarness(path, text, check) : readGuardKey(path, text, check)
}

function unusable(path: string, why: string): Layer {
  return { values: {}, problems: [`${path} ${why}`] }
}

function readHarness(file: string, text: string, check: typeof checkValues): Layer {
  const at = (offset: number): string => formatPosition({ file, ...lineAndColumn(text, offset) })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const offset = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
    return { values: {}, problems: [`${at(offset)}: is not valid JSON`] }
  }
  const places = jsonPlaces(text)
  const found = places.duplicates.map(({ key, offset }) => ({ offset, text: `duplicate key '${key}'` }))
  const checked = check(withoutSchemaLine(value))
  for (const problem of checked.problems) {
    const place = JSON.stringify(problem.path)
    const offset = places[problem.at === 'key' ? 'keys' : 'values'].get(place) ?? 0
    found.push({ offset, text: problem.text })
  }
  found.sort((a, b) => a.offset - b.offset)
  return { values: checked.values, problems: found.map((one) => `${at(one.offset)}: ${one.text}`) }
}

function checkProjectValues(given: unknown): CheckedValues {
  const checked = checkValues(given)
  return { ...checked, problems: [...checked.problems, ...projectProblems(checked.values)] }
}

/** `$schema` is only for editors. */
function withoutSchemaLine(value: unknown): unknown {
  if (!isObject(value)) return value
  if (!('$schema' in value) || typeof value.$schema !== 'string') return value
  const { $schema: _, ...rest } = value
  return rest
}

/** YAML is parsed only if there is a `guard` key: the parser is larger than the rest of a hook. */
async function readGuardKey(file: string, text: string, check: typeof checkValues): Promise<Layer | null> {
  if (!/(?:^|[\s{,])["']?guard["']?\s*:/.test(text)) return null
  const { parseYamlSource } = await import('../../io/yaml-source.ts')
  const source = parseYamlSource(text, file)
  if (source.kind === 'broken')
    return { values: {}, problems: source.problems.map((one) => `${formatPosition(one.at)}: ${one.text}`) }
  const whole = source.value
  if (typeof whole !== 'object' || whole === null || !('guard' in whole)) return null
  const checked = check(whole.guard ?? {})
  const positionOf = ({ path, at }: ValueProblem) =>
    at === 'key' ? source.keyPositionOf(['guard', ...path]) : source.positionOf(['guard', ...path])
  return {
    values: checked.values,
    problems: checked.problems.map((one) => `${formatPosition(positionOf(one))}: ${one.text}`),
  }
}

type Values = Partial<SettingValues>

interface NarrowedBoundary {
  readonly values: Values
  /** null when it can be satisfied. */
  readonly problem: string | null
}

/** The user's boundary. Project files can only narrow it. */
function narrowBoundary(person: Values, project: Values): NarrowedBoundary {
  const inner = narrowPackage(person['boundary.package'] ?? '', project['boundary.package'] ?? '')
  const refused = [...(person['boundary.refused'] ?? []), ...(project['boundary.refused'] ?? [])]
  const readsOnly = [person, project].some((values) => values['boundary.git'] === 'read')
  return {
    values: {
      ...((person['boundary.enabled'] || project['boundary.enabled']) && { 'boundary.enabled': true }),
      ...(inner !== null && { 'boundary.package': inner }),
      'boundary.root': person['boundary.root'] ?? '',
      'boundary.also': person['boundary.also'] ?? [],
      'boundary.refused': [...new Set(refused)],
      'boundary.git': readsOnly ? 'read' : 'all',
    },
    problem:
      inner === null
        ? `boundary.package: '${project['boundary.package']}' of the project is neither inside nor around '${person['boundary.package']}', which the user set`
        : null,
  }
}

/** The inner one of two nested paths; null when neither contains the other. */
function narrowPackage(person: string, project: string): string | null {
  if (person === '' || project === '') return person || project
  const [outer, inner] = [person, project].map((path) => `/${path.split('/').filter(isStep).join('/')}`)
  if (outer === undefined || inner === undefined || isInside(inner, outer)) return project
  return isInside(outer, inner) ? person : null
}

function isStep(part: string): boolean {
  return part !== '' && part !== '.'
}

const settings: readonly (readonly [string, Setting])[] = Object.entries(settingTable)

/** The overrides from the environment. An empty variable counts as not set. */
function readVariables(env: Readonly<Record<string, string | undefined>>) {
  const values: Record<string, SettingValue> = {}
  const problems: string[] = []
  for (const [path, setting] of settings) {
    const { variable } = setting
    const text = variable === undefined ? undefined : env[variable]
    if (variable === undefined || text === undefined || text.trim() === '') continue
    const value = valueIn(setting, text.trim())
    const why = misfit(setting, value)
    if (why === null) values[path] = value as SettingValue
    else problems.push(`environment variable ${variable}: ${explain(setting, text, why)}`)
  }
  return { values, problems }
}

const flags = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** Text that is not a value of this kind stays text and is rejected later. */
function valueIn(setting: Setting, text: string): unknown {
  switch (setting.kind) {
    case 'flag':
      return flags.get(text.toLowerCase()) ?? text
    case 'whole':
    case 'amount':
      return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text
    case 'texts':
      return listIn(text, setting.separator)
    case 'text':
    case 'choice':
      return text
  }
}

function listIn(text: string, separator: string | undefined): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (separator === undefined || Array.isArray(value)) return value
  } catch {
    // Not JSON: a separated list, or invalid.
  }
  if (separator === undefined) return text
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function explain({ kind, separator }: Setting, text: string, why: string): string {
  if (kind === 'flag') return `expected true, false, 1 or 0, received '${text.slice(0, 60)}'`
  return kind === 'texts' && separator === undefined
    ? `expected a JSON array of strings, received '${text.slice(0, 60)}'`
    : why
}
