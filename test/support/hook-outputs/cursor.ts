import { z } from 'zod'
import type { HookReader } from './contract.ts'
import { exitProblems, outputOf, readOutput, text } from './read-output.ts'

const nothing = z.strictObject({})
const permission = z.union([
  nothing,
  z.strictObject({ permission: z.literal('deny'), user_message: text, agent_message: text }),
])
const followup = z.union([nothing, z.strictObject({ followup_message: text })])
const context = z.strictObject({ additional_context: text.optional() })

/** By its documentation; no Cursor was at hand. */
const schemas = new Map<string, z.ZodType>([
  ['preToolUse', permission],
  ['beforeShellExecution', permission],
  ['beforeMCPExecution', permission],
  ['beforeReadFile', permission],
  ['beforeSubmitPrompt', z.strictObject({ continue: z.boolean(), user_message: text.optional() })],
  ['sessionStart', context],
  ['postToolUse', context],
  ['stop', followup],
  ['subagentStop', followup],
  ['preCompact', z.strictObject({ user_message: text.optional() })],
])

const blockable = [
  'preToolUse',
  'beforeShellExecution',
  'beforeMCPExecution',
  'beforeReadFile',
  'beforeSubmitPrompt',
]

export const cursorReaders: readonly HookReader[] = [
  {
    name: 'Cursor',
    problems: (event, reply) => [
      ...exitProblems(reply, blockable.includes(event)),
      ...readOutput(reply, schemas.get(event) ?? nothing),
      ...(reply.stdout === '' ? ['an empty answer is no JSON, and failClosed takes it for a failure'] : []),
    ],
    blocks: (event, reply) => {
      const output = outputOf(reply)
      if (event === 'stop' || event === 'subagentStop') return output?.followup_message !== undefined
      if (!blockable.includes(event)) return false
      return reply.exitCode === 2 || output?.permission === 'deny' || output?.continue === false
    },
  },
]
