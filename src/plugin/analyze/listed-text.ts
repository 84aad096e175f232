import type { JsonObject } from '../../core/json-fields.ts'
import { nameField, textField } from './frontmatter/fields.ts'

/** What Claude Code tells its model about a skill or a command; null: nothing, because nothing is said about when to use it. */
export function listedText(fields: JsonObject, body: string): string | null {
  const description = textField(fields, 'description')
  const occasion = textField(fields, 'when_to_use')
  if (description === null && occasion === null) return null
  const said = description ?? firstLine(body)
  const lines = (occasion === null ? said : `${said} - ${occasion}`).split('\n')
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
