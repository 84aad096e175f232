import type { JsonObject } from '../../core/json-fields.ts'
import { agentHooks } from '../claude-code/agent-hooks.ts'
import type { AgentHooks } from '../contract.ts'

/** Our hooks in the SDK's form: by event, a list of matchers with their functions. */
export function sdkHooks(hooks: AgentHooks): Readonly<Record<string, readonly JsonObject[]>> {
  return Object.fromEntries(
    Object.entries(agentHooks(hooks)).map(([event, answer]) => [event, [{ hooks: [answer] }]]),
  )
}
