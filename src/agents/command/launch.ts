import { resolve } from 'node:path'
import { pathBelow } from '../../io/path-below.ts'
import { pathKind } from '../../io/path-kind.ts'
import { writePrivateFile } from '../../io/temporary-directory.ts'
import { locateProgram } from '../cli/probe.ts'
import type { AgentInstance, AgentRequest, ProbeContext } from '../contract.ts'
import { type CommandAgentConfig, promptWay } from './schema.ts'

export type CommandAgent = AgentInstance<CommandAgentConfig>

/** Everything needed for the start: the words of the command, and the prompt where the agent will read it. */
export function prepareLaunch({ config, base }: CommandAgent, request: AgentRequest) {
  const { prompt, model, workspace } = request
  const needsFile = config.command.some((word) => word.includes('{prompt_file}'))
  const { file, problem } = needsFile ? promptFile(request) : { file: null, problem: null }
  const values = { prompt, prompt_file: file?.path ?? '', model, workspace }
  const argv = fillPlaceholders(anchorPaths(config.command, base), values)
  return {
    argv,
    stdin: promptWay(config) === 'stdin' ? prompt : null,
    /** Why it cannot be started. In a terminal a missing program would only show as an exit code, so it is checked here. */
    problem: problem ?? wordProblem(argv) ?? (config.pty ? programOf(argv, request.env).problem : null),
    cleanUp: () => file?.remove(),
  }
}

function wordProblem(argv: Argv): string | null {
  if (!argv.some((word) => word.includes('\0'))) return null
  return 'a command line cannot contain a NUL character, and the prompt has one: use `prompt: stdin` or `prompt: file`.'
}

/** Outside the workspace: the prompt is not part of the agent's work. */
function promptFile({ prompt, env, workspace }: AgentRequest) {
  const parent =
    env.TMPDIR !== undefined && pathBelow(workspace, env.TMPDIR) === null ? env.TMPDIR : undefined
  try {
    return { file: writePrivateFile(parent, 'prompt.txt', prompt), problem: null }
  } catch (cause) {
    return { file: null, problem: `the prompt file could not be written: ${String(cause)}` }
  }
}

export type Argv = readonly [string, ...string[]]

/**
 * The command with absolute paths: the program runs in the workspace, but users write paths relative to the
 * configuration file. A program with a slash is always such a path, unless it starts with a placeholder; an argument
 * only when it starts with `./` or `../` and exists there, because it may also mean a path in the workspace.
 */
export function anchorPaths([program, ...args]: Argv, base: string): Argv {
  return [
    program.includes('/') && !program.startsWith('{') ? resolve(base, program) : program,
    ...args.map((arg) => {
      if (!/^\.{1,2}\//.test(arg) || arg.includes('\0')) return arg
      const path = resolve(base, arg)
      return pathKind(path) === null ? arg : path
    }),
  ]
}

/** One pass: a placeholder inside the prompt is text of the prompt. */
function fillPlaceholders<Name extends string>(
  [program, ...args]: Argv,
  values: Readonly<Record<Name, string>>,
): Argv {
  const placeholder = new RegExp(`\\{(${Object.keys(values).join('|')})\\}`, 'g')
  const fill = (word: string): string => word.replaceAll(placeholder, (_, name: Name) => values[name])
  return [fill(program), ...args.map(fill)]
}

/** The path of the program, or why it cannot be used. `{workspace}/agent` is known only in the trial. */
export function programOf([program]: Argv, env: ProbeContext['env']) {
  if (program.startsWith('{')) return { path: program, problem: null }
  return locateProgram({ wanted: program, base: '/', install: null }, env)
}
