import { nullAfterError } from '../../core/error.ts'
import { asArray, asObject, asString, type JsonObject, parseObject } from '../../core/json-fields.ts'
import { readTextIfExists } from '../../io/directory.ts'
import type { SetupMessage } from '../generate/contract.ts'

export type CaseHistory =
  | { readonly kind: 'messages'; readonly messages: readonly SetupMessage[] }
  | { readonly kind: 'unusable'; readonly problem: string }

/**
 * The conversation that a case continues, from a transcript of Claude Code or lines of `{role, content}`. Tool calls become text,
 * because a replayed conversation cannot contain calls.
 */
export function historyMessages(file: string): CaseHistory {
  const text = nullAfterError(() => readTextIfExists(file))
  if (text === null) return { kind: 'unusable', problem: `the history ${file} cannot be read` }
  const messages: SetupMessage[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const parsed = parseObject(line)
    if (parsed === null)
      return { kind: 'unusable', problem: `line ${index + 1} of the history ${file} is not a JSON object` }
    const message = messageOf(parsed)
    if (message === null) continue
    const last = messages.at(-1)
    if (last?.role === message.role)
      messages[messages.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` }
    else messages.push(message)
  }
  if (messages.length === 0)
    return { kind: 'unusable', problem: `there is no conversation in the history ${file}` }
  return { kind: 'messages', messages }
}

/** null for lines that are not messages of the conversation: summaries, snapshots, subagent messages. */
function messageOf(line: JsonObject): SetupMessage | null {
  if (line.isSidechain === true || line.isMeta === true) return null
  const message = asObject(line.message) ?? line
  const role = message.role === 'user' || message.role === 'assistant' ? message.role : null
  const content = wordsOf(message.content).trim()
  return role === null || content === '' ? null : { role, content }
}

function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content
  return asArray(content)
    .map((block) => blockWords(asObject(block) ?? {}))
    .filter((words) => words !== '')
    .join('\n')
}

function blockWords(block: JsonObject): string {
  const { type, text, name, input, content } = block
  if (type === 'tool_use') return `[I used ${String(name)} with ${JSON.stringify(input)}]`
  if (type === 'tool_result') return `[The tool answered: ${wordsOf(content)}]`
  return type === 'text' ? (asString(text) ?? '') : ''
}
