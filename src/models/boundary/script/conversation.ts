import type { CallMessage, ModelCall } from '../contract.ts'

/** Codex starts a subagent with this and goes on at once; it waits only for one whose id it is told. */
export const spawnAgent = 'multi_agent_v1.spawn_agent'
const waitAgent = 'multi_agent_v1.wait_agent'

/** Behind the id of a call that starts a subagent for which the script is to wait, and of the call that waits. */
export const subagentMark = '_sub'
const waitMark = '_wait'

export interface Wait {
  readonly id: string
  readonly name: string
  readonly input: { readonly targets: readonly string[] }
}

/** The call that waits for the subagents which the last answer has started; null when there are none. */
export function subagentWait({ messages }: ModelCall): Wait | null {
  const spoken = messages.findLastIndex(({ role }) => role === 'assistant')
  const started = (messages[spoken]?.toolCalls ?? [])
    .filter(({ id, name }) => name === spawnAgent && id?.endsWith(subagentMark))
    .map(({ id }) => id)
  const results = messages.slice(spoken + 1).flatMap(({ toolResults }) => toolResults)
  const targets = results.flatMap(({ id, text }) => (started.includes(id) ? agentIds(text) : []))
  const [first] = started
  if (targets.length === 0 || typeof first !== 'string') return null
  return { id: first.slice(0, -subagentMark.length) + waitMark, name: waitAgent, input: { targets } }
}

/** An answer that only waits is none of the script's turns. */
export function isOnlyWaiting({ toolCalls }: CallMessage): boolean {
  return (
    toolCalls.length > 0 &&
    toolCalls.every(({ id, name }) => name === waitAgent && id?.endsWith(waitMark) === true)
  )
}

function agentIds(text: string): string[] {
  const found = /"agent_id"\s*:\s*"([^"]+)"/.exec(text)?.[1]
  return found === undefined ? [] : [found]
}

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
