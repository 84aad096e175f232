import { asArray, type JsonObject } from '../../../../core/json-fields.ts'
import { asJson } from '../json.ts'
import { textOf, wordOf } from '../openai/words.ts'

/** A tool of a namespace is told as `namespace.tool`: no tool of OpenAI's may have a dot in its name. */
export function joinName({ namespace, name }: JsonObject): string {
  const room = wordOf(namespace)
  return room === null ? textOf(name) : `${room}.${textOf(name)}`
}

export interface WrittenName {
  readonly namespace?: string
  readonly name: string
}

/** A bare name that is offered only inside of a namespace finds it by itself. */
export function splitName(name: string, offered: readonly string[]): WrittenName {
  const homes = offered.includes(name) ? [] : offered.filter((other) => other.endsWith(`.${name}`))
  const full = homes.length === 1 && homes[0] !== undefined ? homes[0] : name
  const dot = full.lastIndexOf('.')
  if (dot <= 0 || dot === full.length - 1) return { name: full }
  return { namespace: full.slice(0, dot), name: full.slice(dot + 1) }
}

/** The names of a list of tools: what has none, such as a search of the provider's, goes by its type. */
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
  return wordOf(tool.name) ?? wordOf(tool.type)
}
