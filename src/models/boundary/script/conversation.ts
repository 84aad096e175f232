import type { CallMessage, ModelCall } from '../contract.ts'
import { isOnlyWaiting } from './subagent-wait.ts'

/**
 * How often the model has spoken in this request. Neighbouring messages of the model are one answer: some formats send its
 * words and its calls apart.
 */
export function answersIn({ messages }: ModelCall): number {
  return messages.filter(
    (message, index) =>
      message.role === 'assistant' && messages[index - 1]?.role !== 'assistant' && !isOnlyWaiting(message),
  ).length
}

/** What the model was told last. Results of parallel calls may come in messages of their own; they belong together. */
export function lastMessage({ messages }: ModelCall): string {
  const told = messages.filter(({ role }) => role !== 'system')
  const last = told.findLastIndex(({ role }) => role !== 'tool')
  const tail = last === told.length - 1 ? told.slice(-1) : told.slice(last + 1)
  return tail.map(textOf).join('\n')
}

/** What stood there before the model spoke for the first time: the same in every request of a conversation. */
export function opening({ messages }: ModelCall): string {
  const first = messages.findIndex(({ role }) => role === 'assistant')
  const before = first === -1 ? messages : messages.slice(0, first)
  return before.map(textOf).join('\n')
}

function textOf({ text, toolResults }: CallMessage): string {
  return [text, ...toolResults.map((result) => result.text)].filter((piece) => piece !== '').join('\n')
}
