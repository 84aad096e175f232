import { isObject } from '../../core/json-fields.ts'
import { type JsoncNode, parseJsonc } from '../../core/jsonc/parse-jsonc.ts'
import { nearest } from '../../core/nearest.ts'
import { stateDirProblem } from '../views/state-directory.ts'
import { type Setting, type SettingValue, settingTable } from './setting-table.ts'

export interface ValueProblem {
  readonly path: readonly string[]
  /** Whether the key or the value is wrong. */
  readonly at: 'key' | 'value'
  readonly text: string
}

export type CheckedValues = ReturnType<typeof checkValues>

const table = new Map<string, Setting>(Object.entries(settingTable))
/** The keys of every group; `''` for the top level. */
const keysOf = groupKeys()

/** Checks the content of a file against the table. */
export function checkValues(given: unknown) {
  const values: Record<string, SettingValue> = {}
  const problems: ValueProblem[] = []
  const visit = (value: unknown, path: readonly string[]): void => {
    const name = path.join('.')
    const setting = path.at(-1)?.includes('.') ? undefined : table.get(name)
    if (setting !== undefined) {
      const why = misfit(setting, value)
      if (why === null) values[name] = value as SettingValue
      else problems.push({ path, at: 'value', text: `${name}: ${why}` })
      return
    }
    const known = keysOf.get(name)
    if (known === undefined || path.at(-1)?.includes('.')) {
      problems.push({ path, at: 'key', text: unknownKey(path) })
    } else if (!isObject(value)) {
      const what = name === '' ? '' : `${name}: `
      problems.push({ path, at: 'value', text: `${what}expected a mapping${received(value)}` })
    } else for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key])
  }
  visit(given, [])
  return { values, problems }
}

/** null when the value is valid; else what was expected, as the end of a sentence that starts with the key. */
export function misfit(setting: Setting, value: unknown): string | null {
  switch (setting.kind) {
    case 'flag':
      return typeof value === 'boolean' ? null : `expected true or false${received(value)}`
    case 'whole':
      if (typeof value !== 'number' || !Number.isSafeInteger(value))
        return `expected a whole number${received(value)}`
      return outOfRange(setting, value)
    case 'amount':
      if (typeof value !== 'number' || !Number.isFinite(value)) return `expected a number${received(value)}`
      return outOfRange(setting, value)
    case 'text':
      if (typeof value !== 'string') return `expected a string${received(value)}`
      if (!isFine(setting, value) && !(value === '' && setting.initial === ''))
        return 'must not be empty or contain control characters'
      return setting.pattern === undefined || new RegExp(setting.pattern).test(value)
        ? null
        : `must match ${setting.pattern}, is '${value.slice(0, 60)}'`
    case 'texts':
      if (!Array.isArray(value)) return `expected a list of strings${received(value)}`
      if (!value.every((item) => typeof item === 'string' && isFine(setting, item)))
        return 'expected a list of strings that are not empty and contain no control characters'
      return misshapen(setting, value)
    case 'choice':
      return setting.choices?.some((known) => known === value)
        ? null
        : `expected ${setting.choices?.map((known) => `'${known}'`).join(' or ')}${received(value)}`
  }
}

function misshapen({ pattern }: Setting, texts: readonly string[]): string | null {
  const shape = pattern === undefined ? null : new RegExp(pattern)
  const wrong = texts.find((text) => shape?.test(text) === false)
  return wrong === undefined ? null : `each must match ${pattern}, one is '${wrong.slice(0, 60)}'`
}

/** A path on the disk may contain anything but NUL. Other texts may not contain control characters. */
function isFine({ isPath = false }: Setting, text: string): boolean {
  return isPath ? text.trim() !== '' && !text.includes('\0') : isPlain(text)
}

function isPlain(text: string): boolean {
  return text.trim() !== '' && !/[\0-\x1f\x7f]/.test(text)
}

function outOfRange({ min, max }: Setting, value: number): string | null {
  if (min !== undefined && value < min) return `must be at least ${min}, is ${value}`
  return max !== undefined && value > max ? `must be at most ${max}, is ${value}` : null
}

function received(value: unknown): string {
  if (value === undefined) return ''
  if (value === null) return ', received nothing'
  if (Array.isArray(value)) return ', received a list'
  if (typeof value === 'object') return ', received a mapping'
  if (typeof value === 'string') return `, received the string '${value.slice(0, 60)}'`
  return `, received ${String(value)}`
}

function unknownKey(path: readonly string[]): string {
  const key = path.at(-1) ?? ''
  const known = [...(keysOf.get(path.slice(0, -1).join('.')) ?? [])]
  const near = nearest(key, known)
  if (near !== undefined) return `unknown key '${key}', did you mean '${near}'?`
  const elsewhere = [...table.keys(), ...keysOf.keys()].filter((name) => name.split('.').at(-1) === key)
  if (elsewhere.length > 0 && elsewhere.length <= 2)
    return `unknown key '${key}' here, did you mean '${elsewhere.join("' or '")}'?`
  return `unknown key '${key}' (known here: ${known.join(', ')})`
}

function groupKeys(): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = new Map<string, Set<string>>()
  for (const name of Object.keys(settingTable)) {
    const segments = name.split('.')
    for (const [index, segment] of segments.entries()) {
      const group = segments.slice(0, index).join('.')
      const keys = groups.get(group) ?? new Set()
      groups.set(group, keys.add(segment))
    }
  }
  return groups
}

/** Problems with settings that a project file must not contain: opening a project must not make the machine write elsewhere. */
export function projectProblems(values: CheckedValues['values']): readonly ValueProblem[] {
  const dir = values['state.dir']
  const root = values['boundary.root']
  const also = values['boundary.also']
  const isPersons = 'only the user may set this, in the environment or in the guard’s home'
  return [
    ...problem('state.dir', typeof dir === 'string' ? stateDirProblem(dir) : null),
    ...problem('boundary.root', root === undefined || root === '' ? null : isPersons),
    ...problem('boundary.also', Array.isArray(also) && also.length > 0 ? isPersons : null),
  ]
}

function problem(key: string, why: string | null): readonly ValueProblem[] {
  return why === null ? [] : [{ path: key.split('.'), at: 'value', text: `${key}: ${why}` }]
}

/** No setting is deeper. Deeper values are ignored, because hostile nesting would make the paths endless. */
const maxDepth = 8

/** Positions of the keys and values of a JSON text that `JSON.parse` accepts. */
export function jsonPlaces(text: string) {
  const keys = new Map<string, number>()
  const values = new Map<string, number>()
  const duplicates: { key: string; offset: number }[] = []
  const visit = (node: JsoncNode, path: readonly (string | number)[]): void => {
    values.set(JSON.stringify(path), node.start)
    if (path.length === maxDepth) return
    if (node.kind === 'array') for (const [index, item] of node.items.entries()) visit(item, [...path, index])
    if (node.kind !== 'object') return
    for (const { key, keyStart: offset, value } of node.members) {
      const place = JSON.stringify([...path, key])
      if (keys.has(place)) duplicates.push({ key, offset })
      keys.set(place, offset)
      visit(value, [...path, key])
    }
  }
  const parsed = parseJsonc(text, { comments: false })
  if (parsed.kind === 'parsed') visit(parsed.node, [])
  return {
    /** Offsets by path, as `JSON.stringify` of its segments. */
    keys,
    values,
    /** A key that appears twice in one object: the later one, which `JSON.parse` would silently use. */
    duplicates,
  }
}
