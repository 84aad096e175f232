import { isAbsolute, relative } from 'node:path'
import { type PrivateFile, writePrivateFile } from '../../io/private-file.ts'
import type { AgentRequest } from '../contract.ts'
import { type Argv, anchorPaths, fillPlaceholders } from './argv.ts'
import type { CommandAgent } from './command-agent.ts'
import { locateProgram } from './locate-program.ts'
import { promptWay } from './schema.ts'

export interface Launch {
  /** The agent as the user knows it. */
  readonly argv: Argv
  readonly stdin: string | null
  /** Why it cannot be started. A terminal would hide a missing program behind an exit code, so it is looked for here. */
  readonly problem: string | null
  cleanUp(): void
}

/** Everything that stands before the start: the words of the command and the prompt where the agent will look for it. */
export function prepareLaunch({ config, base }: CommandAgent, request: AgentRequest): Launch {
  const { prompt, model, workspace } = request
  const needsFile = config.command.some((word) => word.includes('{prompt_file}'))
  const { file, problem } = needsFile ? promptFile(request) : { file: null, problem: null }
  const values = { prompt, prompt_file: file?.path ?? '', model, workspace }
  const argv = fillPlaceholders(anchorPaths(config.command, base), values)
  return {
    argv,
    stdin: promptWay(config) === 'stdin' ? prompt : null,
    problem: problem ?? wordProblem(argv) ?? (config.pty ? locateProgram(argv, request.env).problem : null),
    cleanUp: () => file?.remove(),
  }
}

function wordProblem(argv: Argv): string | null {
  if (!argv.some((word) => word.includes('\0'))) return null
  return 'a command line cannot hold a NUL character, and the prompt has one: use `prompt: stdin` or `prompt: file`.'
}

/** Outside the workspace: the prompt is not part of what the agent is given to work on. */
function promptFile({ prompt, env, workspace }: AgentRequest): {
  readonly file: PrivateFile | null
  readonly problem: string | null
} {
  const parent = env.TMPDIR !== undefined && !isInside(env.TMPDIR, workspace) ? env.TMPDIR : undefined
  try {
    return { file: writePrivateFile(parent, 'prompt.txt', prompt), problem: null }
  } catch (cause) {
    return { file: null, problem: `the prompt file could not be written: ${String(cause)}` }
  }
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}
