import { z } from 'zod'
import type { HookReader } from './contract.ts'
import { exitProblems, outputOf, readOutput, text } from './read-output.ts'

const withContext = (event: string) =>
  z.strictObject({ hookEventName: z.literal(event), additionalContext: text })

const preToolUse = z.strictObject({
  hookEventName: z.literal('PreToolUse'),
  permissionDecision: z.enum(['allow', 'deny', 'ask', 'defer']).optional(),
  permissionDecisionReason: text.optional(),
  additionalContext: text.optional(),
})

/** Members of the union that both versions accept; any other event with `hookSpecificOutput` drops the answer. */
const members = new Map<string, z.ZodType>([
  ['PreToolUse', preToolUse],
  ...['SessionStart', 'UserPromptSubmit', 'SubagentStart', 'PostToolUse', 'PostToolUseFailure'].map(
    (event): [string, z.ZodType] => [event, withContext(event)],
  ),
])

const blockable = ['PreToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop', 'PreCompact', 'ConfigChange']
/** Whatever is printed here is thrown away; before a compaction it is worse. */
const deaf = ['SessionEnd', 'PostCompact', 'StopFailure']
const withoutMessages = [...deaf, 'PreCompact', 'ConfigChange']

/** The versions differ in events that are not registered; what we send must be valid on both. */
export const claudeCodeReaders: readonly HookReader[] = ['2.1.197', '2.1.325'].map((version) => ({
  name: `Claude Code ${version}`,
  problems: (event, reply) => [
    ...exitProblems(reply, blockable.includes(event)),
    ...readOutput(reply, outputSchema(event)),
    ...(deaf.includes(event) && reply.stdout !== '' ? ['nobody reads this'] : []),
    ...(event === 'PreCompact' && reply.stdout !== '' && reply.exitCode !== 2
      ? ['it would be pasted into the orders for the summary']
      : []),
  ],
  blocks: (event, reply) => {
    if (!blockable.includes(event)) return false
    const output = outputOf(reply)
    const specific = output?.hookSpecificOutput as { permissionDecision?: string } | undefined
    return reply.exitCode === 2 || output?.decision === 'block' || specific?.permissionDecision === 'deny'
  },
}))

function outputSchema(event: string): z.ZodType {
  return z.strictObject({
    ...(withoutMessages.includes(event) ? {} : { systemMessage: text.optional() }),
    ...(blockable.includes(event)
      ? { decision: z.literal('block').optional(), reason: text.optional() }
      : {}),
    ...(members.has(event) ? { hookSpecificOutput: members.get(event)?.optional() } : {}),
  })
}
