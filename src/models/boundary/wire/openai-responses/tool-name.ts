import { asArray, type JsonObject } from '../../../../core/json-fields.ts'
import { asJson } from '../json.ts'
import { nonEmptyText, textOf } from '../openai/words.ts'

/** A tool of a namespace is named `namespace.tool`: OpenAI allows no dot in tool names. */
export function joinName({ namespace, name }: JsonObject): string {
  const room = nonEmptyText(namespace)
  return room === null ? textOf(name) : `${room}.${textOf(name)}`
}

/** Finds the namespace of a bare name that is offered only inside a namespace. */
export function splitName(name: string, offered: readonly string[]): { namespace?: string; name: string } {
  const homes = offered.includes(name) ? [] : offered.filter((other) => other.endsWith(`.${name}`))
  const full = homes.length === 1 && homes[0] !== undefined ? homes[0] : name
  const dot = full.lastIndexOf('.')
  if (dot <= 0 || dot === full.length - 1) return { name: full }
  return { namespace: full.slice(0, dot), name: full.slice(dot + 1) }
}

/** The names of a list of tools; a tool without a name, such as a provider's search, has its type. */
export function toolNames(tools: unknown): readonly string[] {
  return asArray(tools).flatMap((item) => {
    const name = toolName(item)
    if (name === null) return []
    const { type, tools: inner } = asJson(item)
    if (type !== 'namespace') return [name]
    return asArray(inner).flatMap((member) => {
      const own = toolName(member)
      return own === null ? [] : [`${name}.${own}`]
    })
  })
}

function toolName(item: unknown): string | null {
  const tool = asJson(item)
  return nonEmptyText(tool.name) ?? nonEmptyText(tool.type)
}
