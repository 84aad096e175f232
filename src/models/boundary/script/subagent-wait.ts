import type { CallMessage, ModelCall } from '../contract.ts'

/** Codex starts a subagent with this tool and continues at once; it waits only for a subagent whose id it is given. */
export const spawnAgent = 'multi_agent_v1.spawn_agent'
const waitAgent = 'multi_agent_v1.wait_agent'

/** Suffixes of the id of a call that starts a subagent to wait for, and of the call that waits. */
export const subagentMark = '_sub'
const waitMark = '_wait'

export interface Wait {
  readonly id: string
  readonly name: string
  readonly input: { readonly targets: readonly string[] }
}

/** The call that waits for the subagents that the last answer started; null when there are none. */
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

/** An answer that only waits is not a turn of the script. */
function isOnlyWaiting({ toolCalls }: CallMessage): boolean {
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
 * The number of model answers in this request. Adjacent messages of the model are one answer: some formats send text and calls separately.
 */
export function answersIn({ messages }: ModelCall): number {
  return messages.filter(
    (message, index) =>
      message.role === 'assistant' && messages[index - 1]?.role !== 'assistant' && !isOnlyWaiting(message),
  ).length
}

/** The last input of the model. Results of parallel calls may be separate messages; they belong together. */
export function lastMessage({ messages }: ModelCall): string {
  const withoutSystem = messages.filter(({ role }) => role !== 'system')
  const last = withoutSystem.findLastIndex(({ role }) => role !== 'tool')
  const tail = last === withoutSystem.length - 1 ? withoutSystem.slice(-1) : withoutSystem.slice(last + 1)
  return tail.map(textOf).join('\n')
}

/** The messages before the model's first answer: the same in every request of a conversation. */
export function opening({ messages }: ModelCall): string {
  const first = messages.findIndex(({ role }) => role === 'assistant')
  const before = first === -1 ? messages : messages.slice(0, first)
  return before.map(textOf).join('\n')
}

function textOf({ text, toolResults }: CallMessage): string {
  return [text, ...toolResults.map((result) => result.text)].filter((piece) => piece !== '').join('\n')
}
