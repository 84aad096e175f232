import { z } from 'zod'
import { parseDuration } from '../../core/duration.ts'
import { agentFailures } from '../../core/event.ts'
import { optionalAmount, optionalText } from '../../core/schema.ts'

const duration = z
  .string()
  .refine(
    (text) => parseDuration(text) !== null,
    'not a duration: write a number and a unit, such as 500ms or 2s',
  )
const path = z.string().min(1)
const tokens = z.int().min(0)

const actions = {
  say: z.string().optional().describe('Says something.'),
  think: z.string().optional().describe('A thought of the model; not a separate turn.'),
  run: z.string().min(1).optional().describe('Really runs a shell command in the workspace.'),
  write: z
    .strictObject({ path, content: z.string() })
    .optional()
    .describe('Writes a file of the workspace, with its directories.'),
  edit: z
    .strictObject({ path, old: z.string().min(1), new: z.string() })
    .optional()
    .describe('Replaces a text that occurs exactly once; otherwise the tool fails.'),
  read: path.optional().describe('Reads a file of the workspace.'),
  delete: path.optional().describe('Deletes a file of the workspace.'),
  tool: z
    .strictObject({
      name: z.string().min(1),
      input: z.unknown().optional(),
      output: z.string().default(''),
      exit_code: z.int().optional(),
      is_error: z.boolean().optional(),
    })
    .optional()
    .describe('Fakes a tool: emits its events and does nothing.'),
  usage: z
    .strictObject({
      model: z.string().optional(),
      input_tokens: tokens.default(0),
      output_tokens: tokens.default(0),
      cache_read_tokens: tokens.optional(),
      cache_write_tokens: tokens.optional(),
      cost_usd: z.number().min(0).optional(),
    })
    .optional()
    .describe('Reports tokens and cost.'),
  wait: duration.optional().describe('Does nothing for a while.'),
  crash: z
    .strictObject({
      signal: z
        .enum(['SIGSEGV', 'SIGABRT', 'SIGKILL', 'SIGTERM', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGINT', 'SIGHUP'])
        .optional(),
      exit: z.int().min(1).max(255).optional(),
    })
    .refine(
      ({ signal, exit }) => (signal === undefined) !== (exit === undefined),
      'write either signal or exit',
    )
    .optional()
    .describe('Dies by a signal, or with an exit code, in the middle of its work.'),
  hang: z.literal(true).optional().describe('Hangs until it is killed.'),
  overspend: optionalAmount('Reports this cost, in USD, repeatedly until it is stopped.'),
  lie: z
    .strictObject({ claim: z.string().min(1) })
    .optional()
    .describe('Claims that a command passed, without running it.'),
  infra: z
    .strictObject({
      reason: z.enum(agentFailures),
      message: z.string().default('The scripted model failed.'),
    })
    .optional()
    .describe('Reports an infrastructure failure and exits with 1.'),
  exit: z.int().min(0).max(255).optional().describe('Exits at once, without calling the stop hook.'),
  spawn_daemon: optionalText(
    'Leaves a shell command running in a separate session, for as long as the agent lives.',
  ),
}

const actionNames = Object.keys(actions)

const stepSchema = z
  .strictObject({
    ...actions,
    timeout: duration.optional().describe('With run: the command is killed after this time.'),
    ignore_sigterm: z
      .boolean()
      .optional()
      .describe('With hang: ignores SIGTERM, so only a hard kill ends it.'),
  })
  .superRefine((step, context) => {
    const given = Object.keys(step).filter((key) => actionNames.includes(key))
    if (given.length !== 1) {
      const message =
        given.length === 0
          ? `a turn needs an action: one of ${actionNames.join(', ')}`
          : `a turn has one action, this one has ${given.join(' and ')}`
      context.addIssue({ code: 'custom', message })
    }
    if (step.timeout !== undefined && step.run === undefined) {
      context.addIssue({ code: 'custom', path: ['timeout'], message: 'timeout is only allowed with run' })
    }
    if (step.ignore_sigterm !== undefined && step.hang === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['ignore_sigterm'],
        message: 'ignore_sigterm is only allowed with hang',
      })
    }
  })

const part = {
  turns: z.array(stepSchema).describe('The actions of the agent, in order.'),
  on_stop_refused: z
    .array(z.array(stepSchema))
    .default([])
    .describe(
      'What it does when a hook refuses its stop: the first list after the first refusal, and so on.',
    ),
}

const whenSchema = z.strictObject({
  case: z.string().optional().describe('Name of the case (GANTRY_SCENARIO).'),
  attempt: z.int().min(1).optional().describe('Number of the attempt (GANTRY_ATTEMPT), from 1.'),
  prompt: z.string().optional().describe('The whole prompt.'),
  prompt_contains: z.string().min(1).optional().describe('A part of the prompt.'),
  model: z.string().optional().describe('Name of the model.'),
})

/** The file behind `driver: scripted`: an agent without a model, for tests, demonstrations and dry runs. */
export const scriptSchema = z.strictObject({
  name: z.string().min(1).describe('Name of the agent in its session event.'),
  version: z.string().optional().describe('Version it reports; part of every cache key.'),
  scripts: z
    .array(z.strictObject({ when: whenSchema.describe('All of these must be true.'), ...part }))
    .default([])
    .describe('The first match is played.'),
  turns: part.turns.optional().describe('Played when no script matches.'),
  on_stop_refused: part.on_stop_refused,
})

export const scriptedAgentSchema = z.strictObject({
  driver: z.literal('scripted').describe('Plays a script: no model, no key, no cost.'),
  script: z.string().min(1).describe('Path of the script, relative to this file.'),
  models: z.array(z.string().min(1)).default([]).describe('Models that this agent may use. Empty: any.'),
})

export type ScriptedAgentConfig = z.output<typeof scriptedAgentSchema>
export type Script = z.output<typeof scriptSchema>
export type ScriptStep = z.output<typeof stepSchema>
export type When = z.output<typeof whenSchema>
