import type { JsonObject } from '../../../core/json-fields.ts'

/** The text of a string, number or boolean, as in Claude Code; null for anything else. */
export function textField(fields: JsonObject, key: string): string | null {
  const value = fields[key]
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return null
  const text = value.trim()
  return text === '' ? null : text
}

/** A name may be a list; Claude Code converts it to text. */
export function nameField(fields: JsonObject): string | null {
  const { name } = fields
  if (!Array.isArray(name)) return textField(fields, 'name')
  const text = name.filter((item) => ['string', 'number', 'boolean'].includes(typeof item)).join(',')
  return text === '' ? null : text
}

/** `true`, and common spellings of it. */
export function flagField(fields: JsonObject, key: string): boolean | null {
  const value = fields[key]
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return null
  const word = value.trim().toLowerCase()
  if (['true', 'yes', 'on', '1'].includes(word)) return true
  return ['false', 'no', 'off', '0'].includes(word) ? false : null
}

/** Tools as written: a list, or a text separated by commas or blanks. Text in parentheses stays together. */
export function toolsField(fields: JsonObject, key: string): readonly string[] {
  const value = fields[key]
  if (Array.isArray(value)) return value.flatMap((item) => (typeof item === 'string' ? splitTools(item) : []))
  return typeof value === 'string' ? splitTools(value) : []
}

function splitTools(text: string): readonly string[] {
  const separator = text.replaceAll(/\([^()]*\)/g, '').includes(',') ? /,/ : /\s/
  const found: string[] = []
  let depth = 0
  let current = ''
  for (const char of text) {
    if (char === '(') depth += 1
    if (char === ')') depth = Math.max(0, depth - 1)
    if (depth === 0 && separator.test(char)) {
      found.push(current)
      current = ''
    } else current += char
  }
  return [...found, current].map((tool) => tool.trim()).filter((tool) => tool !== '')
}
