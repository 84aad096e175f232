import { z } from 'zod'

const path = z
  .string()
  .min(1)
  .describe('Relative to the workspace, or absolute; made absolute for agents that want it so.')

const acts = {
  run: z.string().min(1).optional().describe('A shell command.'),
  write: z
    .strictObject({ path, content: z.string().describe('The whole content.') })
    .optional()
    .describe('Makes a file, or replaces its content.'),
  edit: z
    .strictObject({
      path,
      old: z.string().min(1).describe('Occurs exactly once in the file.'),
      new: z.string().describe('Takes its place.'),
    })
    .optional()
    .describe('Replaces a text. Some agents demand that the file was read or written before.'),
  read: z.strictObject({ path }).optional().describe('Reads a file.'),
  subagent: z
    .strictObject({
      prompt: z.string().min(1).describe('What the subagent is to do.'),
      description: z.string().min(1).default('scripted subagent').describe('In a few words.'),
      type: z
        .string()
        .min(1)
        .optional()
        .describe('Kind of subagent, for agents that have kinds. Default: the one for all purposes.'),
    })
    .optional()
    .describe('Starts a subagent and waits for it. Its own calls are best answered by a rule.'),
  tool: z
    .strictObject({
      name: z.string().min(1).describe('The name of the tool, exactly.'),
      input: z
        .union([z.record(z.string(), z.json()), z.string()])
        .default({})
        .describe('Its input, exactly; a text for a free-form tool such as apply_patch.'),
      id: z.string().min(1).optional().describe('Id of the call. Default: made of turn and place.'),
    })
    .optional()
    .describe('A tool by its own name, offered or not.'),
} as const

/** A tool call in words of our own, which are put into those of the agent, or in the words of one tool. */
export const callSchema = z.strictObject(acts).superRefine((call, context) => {
  const given = Object.entries(call).filter(([, value]) => value !== undefined)
  if (given.length === 1) return
  const message =
    given.length === 0
      ? `a call needs one of ${Object.keys(acts).join(', ')}`
      : `a call is one thing, this one has ${given.map(([name]) => name).join(' and ')}`
  context.addIssue({ code: 'custom', message })
})

export type ScriptCall = z.output<typeof callSchema>
