/** TOML has no null. */
export type TomlValue =
  | string
  | number
  | boolean
  | readonly TomlValue[]
  | { readonly [key: string]: TomlValue }

/** A setting as Codex reads it: a line of config.toml, or the argument after `-c`. */
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

/** JSON escapes are valid TOML. It leaves DEL and the control characters behind it, and lone surrogates, which TOML does not allow. */
function tomlString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(
    /\p{Cc}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function isList(value: TomlValue): value is readonly TomlValue[] {
  return Array.isArray(value)
}
