import { misfit } from './check-values.ts'
import { type Setting, type SettingValue, settingTable } from './setting-table.ts'

export interface ReadVariables {
  readonly values: Readonly<Record<string, SettingValue>>
  readonly problems: readonly string[]
  /** Names of the variables that were read. */
  readonly names: readonly string[]
}

const settings: readonly (readonly [string, Setting])[] = Object.entries(settingTable)

/** The overrides of the environment. A variable that is set to nothing counts as not set. */
export function readVariables(env: Readonly<Record<string, string | undefined>>): ReadVariables {
  const values: Record<string, SettingValue> = {}
  const problems: string[] = []
  const names: string[] = []
  for (const [path, setting] of settings) {
    const { variable } = setting
    const text = variable === undefined ? undefined : env[variable]
    if (variable === undefined || text === undefined || text.trim() === '') continue
    names.push(variable)
    const value = valueIn(setting, text.trim())
    const why = misfit(setting, value)
    if (why === null) values[path] = value as SettingValue
    else problems.push(`environment variable ${variable}: ${explain(setting, text, why)}`)
  }
  return { values, problems, names }
}

const flags = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** What is no value of this kind stays the text it is, and does not fit. */
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
    // Not JSON: a list in plain words, or no list.
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
