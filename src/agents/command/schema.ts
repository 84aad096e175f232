import { z } from 'zod'
import { choice, flag, optionalChoice } from '../../core/schema.ts'
import { modelKeys, placeKeys } from '../cli-agent-shape.ts'

const words = z.tuple([z.string().min(1)], z.string())

export const commandAgentSchema = z
  .strictObject({
    driver: z.literal('command').describe('Runs any command-line program as the agent.'),
    command: words.describe(
      'Program and arguments, started without a shell in the workspace. {prompt}, {prompt_file}, {model} and {workspace} are replaced. A program with a slash, and an argument that starts with ./ or ../ and exists there, are relative to this file.',
    ),
    prompt: optionalChoice(
      ['argv', 'stdin', 'file'],
      'How the prompt reaches the program. Default: argv when {prompt} occurs in the command, file when {prompt_file} does, else stdin.',
    ),
    output: choice(
      ['text', 'events', 'claude-stream-json', 'codex-json'],
      'text',
      'The output format of the program. text: anything. events: one Gantry event per line, as JSON. claude-stream-json and codex-json: the formats of these agents. Only the last three show commands, tokens and cost.',
    ),
    pty: flag(
      false,
      'Gives the program a terminal of 24 rows and 80 columns; stderr is then part of stdout.',
    ),
    ...placeKeys,
    ...modelKeys,
    version_command: words
      .optional()
      .describe(
        'Program and arguments that print the version of the agent, which is part of every cache key.',
      ),
  })
  .superRefine((agent, context) => {
    const problem = promptProblem(agent)
    if (problem !== null) context.addIssue({ code: 'custom', path: ['prompt'], message: problem })
    if (agent.pty && promptWay(agent) === 'stdin') {
      context.addIssue({
        code: 'custom',
        path: ['pty'],
        message: 'a terminal changes its input: with pty the prompt must use {prompt} or {prompt_file}',
      })
    }
  })

export type CommandAgentConfig = z.output<typeof commandAgentSchema>

interface PromptKeys {
  readonly command: readonly string[]
  readonly prompt?: 'argv' | 'stdin' | 'file' | undefined
}

export function promptWay({ command, prompt }: PromptKeys): 'argv' | 'stdin' | 'file' {
  if (prompt !== undefined) return prompt
  if (command.some((word) => word.includes('{prompt}'))) return 'argv'
  return command.some((word) => word.includes('{prompt_file}')) ? 'file' : 'stdin'
}

function promptProblem({ command, prompt }: PromptKeys): string | null {
  const has = (placeholder: string): boolean => command.some((word) => word.includes(placeholder))
  switch (prompt) {
    case undefined:
      return null
    case 'argv':
      return has('{prompt}') ? null : 'prompt: argv needs {prompt} somewhere in the command'
    case 'file':
      return has('{prompt_file}') ? null : 'prompt: file needs {prompt_file} somewhere in the command'
    case 'stdin':
      return has('{prompt}') || has('{prompt_file}')
        ? 'prompt: stdin would give the prompt twice: the command has a placeholder for it'
        : null
  }
}
