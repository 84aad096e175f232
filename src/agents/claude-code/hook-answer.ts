import type { JsonObject } from '../../core/json-fields.ts'
import type { HookReply } from '../hook-codec.ts'
import { answering, blocking } from '../hooks/replies.ts'
import type { Said } from '../hooks/said.ts'

/**
 * Exit code 2 blocks whatever stdout says, and JSON that blocks does so whatever the exit code is: both together hold when
 * one of them gets lost. A hook that dies in between has exit code 2 on no version, so that nothing else may be the block.
 */
export function claudeAnswer(name: string, { block, context, notice }: Said): HookReply {
  if (block !== null) return blocking(block, { systemMessage: notice, ...blockOutput(name, block) })
  return answering({
    systemMessage: notice,
    hookSpecificOutput: context === null ? null : { hookEventName: name, additionalContext: context },
  })
}

function blockOutput(name: string, reason: string): JsonObject {
  if (name !== 'PreToolUse') return { decision: 'block', reason }
  return {
    hookSpecificOutput: {
      hookEventName: name,
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  }
}
