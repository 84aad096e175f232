import type { ModelCall } from '../contract.ts'
import { lastMessage, opening } from './conversation.ts'
import type { ScriptRule } from './schema.ts'

/** Do all conditions hold? The middle of the conversation is never looked at: words in it come back again and again. */
export function ruleFits({ when }: Pick<ScriptRule, 'when'>, call: ModelCall): boolean {
  return (
    (when.kind === 'any' || when.kind === call.kind) &&
    (when.system === undefined || call.system.includes(when.system)) &&
    (when.last_message === undefined || lastMessage(call).includes(when.last_message)) &&
    (when.prompt === undefined || opening(call).includes(when.prompt)) &&
    (when.model === undefined || call.model.includes(when.model)) &&
    (when.api === undefined || when.api === call.api) &&
    (when.tool === undefined || call.tools.includes(when.tool))
  )
}
