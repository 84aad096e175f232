import { z } from 'zod'
import { optionalText, text } from '../../../core/schema.ts'

const path = text('Relative to the workspace, or absolute. Made absolute for agents that require it.')

const acts = {
  run: z.string().min(1).optional().describe('A shell command.'),
  write: z
    .strictObject({ path, content: z.string().describe('The whole content.') })
    .optional()
    .describe('Creates a file, or replaces its content.'),
  edit: z
    .strictObject({
      path,
      old: z.string().min(1).describe('Must occur exactly once in the file.'),
      new: z.string().describe('Takes its place.'),
    })
    .optional()
    .describe('Replaces a text. Some agents require that the file was read or written before.'),
  read: z.strictObject({ path }).optional().describe('Reads a file.'),
  subagent: z
    .strictObject({
      prompt: z.string().min(1).describe('The task of the subagent.'),
      description: z.string().min(1).default('scripted subagent').describe('A short description.'),
      type: optionalText('Kind of subagent, for agents that have kinds. Default: the general-purpose one.'),
    })
    .optional()
    .describe('Starts a subagent and waits for it. Answer its own calls with a rule.'),
  tool: z
    .strictObject({
      name: z.string().min(1).describe('The exact name of the tool.'),
      input: z
        .union([z.record(z.string(), z.json()), z.string()])
        .default({})
        .describe('The exact input; a text for a free-form tool such as apply_patch.'),
      id: z.string().min(1).optional().describe('Id of the call. Default: generated from turn and position.'),
    })
    .optional()
    .describe('A tool by its own name, offered or not.'),
} as const

/** A tool call in agent-independent terms, which is translated for the agent, or a call of a specific tool. */
export const callSchema = z.strictObject(acts).superRefine((call, context) => {
  const given = Object.entries(call).filter(([, value]) => value !== undefined)
  if (given.length === 1) return
  const message =
    given.length === 0
      ? `a call needs one of ${Object.keys(acts).join(', ')}`
      : `a call has exactly one action, this one has ${given.map(([name]) => name).join(' and ')}`
  context.addIssue({ code: 'custom', message })
})

export type ScriptCall = z.output<typeof callSchema>
