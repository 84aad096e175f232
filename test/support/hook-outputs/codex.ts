import { z } from 'zod'
import type { HookReader } from './contract.ts'
import { exitProblems, outputOf, readOutput, text } from './read-output.ts'

/** Every output schema of Codex 0.166.0 forbids further fields, and what does not fit lets the call pass. */
const universal = { systemMessage: text.optional() }
const block = { decision: z.literal('block').optional(), reason: text.optional() }
const withContext = (event: string) => ({
  hookSpecificOutput: z.strictObject({ hookEventName: z.literal(event), additionalContext: text }).optional(),
})

const schemas = new Map<string, z.ZodType>([
  ['SessionStart', z.strictObject({ ...universal, ...withContext('SessionStart') })],
  ['UserPromptSubmit', z.strictObject({ ...universal, ...block, ...withContext('UserPromptSubmit') })],
  [
    'PreToolUse',
    z.strictObject({
      ...universal,
      hookSpecificOutput: z
        .strictObject({
          hookEventName: z.literal('PreToolUse'),
          // `allow` and `ask` are in the schema and still unsupported.
          permissionDecision: z.literal('deny'),
          permissionDecisionReason: text,
        })
        .optional(),
    }),
  ],
  ['PostToolUse', z.strictObject({ ...universal, ...withContext('PostToolUse') })],
  ['PreCompact', z.strictObject(universal)],
  ['PostCompact', z.strictObject(universal)],
  ['SubagentStart', z.strictObject({ ...universal, ...withContext('SubagentStart') })],
  ['SubagentStop', z.strictObject({ ...universal, ...block })],
  ['Stop', z.strictObject({ ...universal, ...block })],
])

const blockable = ['PreToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop']

export const codexReaders: readonly HookReader[] = [
  {
    name: 'Codex 0.166.0',
    problems: (event, reply) => [
      ...exitProblems(reply, blockable.includes(event)),
      ...readOutput(reply, schemas.get(event) ?? z.never()),
      ...(reply.exitCode === 2 && reply.stdout !== '' ? ['stdout is not read with exit code 2'] : []),
    ],
    blocks: (event, reply) => {
      if (!blockable.includes(event)) return false
      if (reply.exitCode === 2) return reply.stderr.trim() !== ''
      return reply.exitCode === 0 && outputOf(reply)?.decision === 'block'
    },
  },
]
