import { asArray, asObject, asString, type JsonObject, parseObject } from '../../core/json-fields.ts'
import { sha256 } from '../../io/sha256.ts'
import type { SetupMessage } from '../generate/contract.ts'

/** The messages of a text-only conversation; null when it uses tools or a line cannot be read. */
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

/** A conversation in Claude Code's own format, which it can continue. The same messages give the same file. */
export function historyFile(messages: readonly SetupMessage[]): string {
  const sessionId = idOf(JSON.stringify(messages))
  const ids = messages.map((_, index) => idOf(`${sessionId} ${index}`))
  const lines = messages.map(({ role, content }, index) => ({
    parentUuid: ids[index - 1] ?? null,
    isSidechain: false,
    sessionId,
    timestamp: new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString(),
    type: role,
    message: { role, content: role === 'user' ? content : [{ type: 'text', text: content }] },
    uuid: ids[index],
  }))
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

function idOf(text: string): string {
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(sha256(text)) ?? []
  return `${a}-${b}-4${c}-8${d}-${e}`
}
