/** TOML has no null. */
export type TomlValue =
  | string
  | number
  | boolean
  | readonly TomlValue[]
  | { readonly [key: string]: TomlValue }

/** A setting as Codex takes it: a line of config.toml, or the word behind `-c`. */
export function tomlSetting(key: string, value: TomlValue): string {
  return `${key} = ${tomlValue(value)}`
}

function tomlValue(value: TomlValue): string {
  if (typeof value === 'string') return tomlString(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (isList(value)) return `[${value.map(tomlValue).join(', ')}]`
  const fields = Object.entries(value).map(([key, field]) => `${tomlString(key)} = ${tomlValue(field)}`)
  return `{${fields.join(', ')}}`
}

/** JSON's escapes are TOML's, but for DEL, which JSON leaves as it is, and for halves of characters, which TOML does not know. */
function tomlString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\u007f', '\\u007f')
}

function isList(value: TomlValue): value is readonly TomlValue[] {
  return Array.isArray(value)
}
