import { z } from 'zod'
import type { HookReader } from './contract.ts'
import { exitProblems, outputOf, readOutput, text } from './read-output.ts'

const deny = { decision: z.literal('deny').optional(), reason: text.optional() }
const universal = { systemMessage: text.optional() }
const withContext = (event: string) => ({
  hookSpecificOutput: z.strictObject({ hookEventName: z.literal(event), additionalContext: text }).optional(),
})

const schemas = new Map<string, z.ZodType>([
  ['SessionStart', z.strictObject({ ...universal, ...withContext('SessionStart') })],
  ['BeforeAgent', z.strictObject({ ...universal, ...deny, ...withContext('BeforeAgent') })],
  ['BeforeTool', z.strictObject({ ...universal, ...deny })],
  ['AfterTool', z.strictObject({ ...universal, ...withContext('AfterTool') })],
  ['AfterAgent', z.strictObject({ ...universal, ...deny })],
  ['PreCompress', z.strictObject(universal)],
])

const blockable = ['BeforeAgent', 'BeforeTool', 'AfterAgent']

export const geminiReaders: readonly HookReader[] = [
  {
    name: 'Gemini CLI 0.61.0',
    problems: (event, reply) => [
      ...exitProblems(reply, blockable.includes(event)),
      ...readOutput(reply, schemas.get(event) ?? z.never()),
    ],
    // JSON is believed whatever the exit code is; without any, exit code 2 denies.
    blocks: (event, reply) => {
      if (!blockable.includes(event)) return false
      const output = outputOf(reply)
      return output === undefined ? reply.exitCode === 2 : ['deny', 'block'].includes(String(output.decision))
    },
  },
]
