import type { JsonObject } from '../../core/json-fields.ts'
import { nameField, textField } from './frontmatter/fields.ts'

/** The text by which Claude Code lists a skill or a command for its model; null when neither description nor when_to_use is set. */
export function listedText(fields: JsonObject, body: string): string | null {
  const description = textField(fields, 'description')
  const occasion = textField(fields, 'when_to_use')
  if (description === null && occasion === null) return null
  const text = description ?? firstLine(body)
  const lines = (occasion === null ? text : `${text} - ${occasion}`).split('\n')
  return lines
    .map((line) => line.trim())
    .join(' ')
    .trim()
}

/** The name in the frontmatter as Claude Code reports it, where it calls the component by another one. */
export function aliasOf(fields: JsonObject, cliName: string): string | null {
  const name = nameField(fields)
  if (name === null) return null
  const alias = cliName.slice(0, cliName.lastIndexOf(':') + 1) + name
  return alias === cliName ? null : alias
}

function firstLine(body: string): string {
  const line = body.split('\n').find((each) => each.trim() !== '') ?? ''
  return line.replace(/^#+\s*/, '').trim()
}

/** More of a description and `when_to_use` together is cut off, in UTF-16 units. */
export const longestListed = 1_536
