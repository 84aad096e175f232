import { z } from 'zod'
import type { HookReader } from './contract.ts'
import { exitProblems, outputOf, readOutput, text } from './read-output.ts'

const context = { additionalContext: text.optional() }
const block = { decision: z.literal('block'), reason: text }

const schemas = new Map<string, z.ZodType>([
  ['sessionStart', z.strictObject(context)],
  ['userPromptSubmitted', z.union([z.strictObject(block), z.strictObject(context)])],
  [
    'preToolUse',
    z.union([
      z.strictObject({ permissionDecision: z.literal('deny'), permissionDecisionReason: text }),
      z.strictObject(context),
    ]),
  ],
  ['postToolUse', z.strictObject(context)],
  ['postToolUseFailure', z.strictObject(context)],
  ['subagentStart', z.strictObject(context)],
  ['agentStop', z.strictObject(block)],
  ['subagentStop', z.strictObject(block)],
])

/** One for both dialects: of a hook for Claude Code it takes the same words, and only these whole. */
export const copilotReaders: readonly HookReader[] = [
  {
    name: 'Copilot CLI 1.0.102',
    problems: (event, reply) => [
      ...exitProblems(reply, event === 'preToolUse'),
      ...readOutput(reply, schemas.get(event) ?? z.never()),
    ],
    blocks: (event, reply) => {
      const output = outputOf(reply)
      if (event === 'preToolUse') return reply.exitCode !== 0 || output?.permissionDecision === 'deny'
      return reply.exitCode === 0 && output?.decision === 'block'
    },
  },
]
