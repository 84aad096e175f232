import { asArray, asObject, asString, type JsonObject, parseObject } from '../../core/json-fields.ts'
import type { SetupMessage } from '../generate/contract.ts'

/** The words of a conversation in which nothing but words was said; null when tools were used in it or a line cannot be read. */
export function plainHistory(text: string): readonly SetupMessage[] | null {
  const messages: SetupMessage[] = []
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const message = messageOf(parseObject(line) ?? {})
    if (message === null) return null
    messages.push(message)
  }
  return messages.length === 0 ? null : messages
}

function messageOf(line: JsonObject): SetupMessage | null {
  if (line.isSidechain === true || line.isMeta === true) return null
  const { role, content } = asObject(line.message) ?? {}
  if (role !== 'user' && role !== 'assistant') return null
  if (typeof content === 'string') return { role, content }
  const [block, ...others] = asArray(content).map(asObject)
  const words = block?.type === 'text' && others.length === 0 ? asString(block.text) : undefined
  return words === undefined ? null : { role, content: words }
}
