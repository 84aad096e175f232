import { z } from 'zod'
import type { HookReader } from './contract.ts'
import { exitProblems, outputOf, readOutput, text } from './read-output.ts'

const system = z.strictObject({ system: text })
const context = z.strictObject({ context: text })

/** Our own plugin reads it. */
const schemas = new Map<string, z.ZodType>([
  ['tool.execute.before', z.strictObject({ deny: text })],
  ['tool.execute.after', context],
  ['experimental.session.compacting', context],
  ['experimental.chat.system.transform', system],
  ['session.created', system],
])

export const opencodeReaders: readonly HookReader[] = [
  {
    name: 'the plugin for opencode',
    problems: (event, reply) => [
      ...exitProblems(reply, event === 'tool.execute.before'),
      ...readOutput(reply, schemas.get(event) ?? z.never()),
    ],
    blocks: (event, reply) =>
      event === 'tool.execute.before' && (reply.exitCode === 2 || outputOf(reply)?.deny !== undefined),
  },
]
