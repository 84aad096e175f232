import { isAbsolute, relative, resolve } from 'node:path'
import { findProgram, isExecutable } from '../../io/find-program.ts'
import { isFile, pathKind } from '../../io/path-kind.ts'
import { type PrivateFile, writePrivateFile } from '../../io/temporary-directory.ts'
import type { AgentRequest, ProbeContext } from '../contract.ts'
import { type CommandAgentConfig, promptWay } from './schema.ts'

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

export type Argv = readonly [string, ...string[]]

interface PlaceholderValues {
  readonly prompt: string
  readonly prompt_file: string
  readonly model: string
  readonly workspace: string
}

/**
 * The template with its paths made absolute: the program runs in the workspace, but a user writes paths relative to the
 * configuration file. A program with a slash is always such a path,
 * unless it begins with a placeholder; an argument only when it begins with `./` or `../` and
 * names something that is there, because it may as well mean a path in the workspace.
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
function fillPlaceholders([program, ...args]: Argv, values: PlaceholderValues): Argv {
  const fill = (word: string): string =>
    word.replaceAll(/\{(prompt|prompt_file|model|workspace)\}/g, (whole, name: string) =>
      isPlaceholder(name, values) ? values[name] : whole,
    )
  return [fill(program), ...args.map(fill)]
}

function isPlaceholder(name: string, values: PlaceholderValues): name is keyof PlaceholderValues {
  return Object.hasOwn(values, name)
}

/** Where the program of an anchored command is, or why it cannot be used. */
export function locateProgram(
  [program]: Argv,
  env: ProbeContext['env'],
): { readonly path: string | null; readonly problem: string | null } {
  // `{workspace}/agent` is known only in the trial.
  if (program.startsWith('{')) return { path: program, problem: null }
  if (!program.includes('/')) {
    const path = findProgram(program, env.PATH ?? '')
    return {
      path,
      problem:
        path === null ? `${program} is not on the PATH of the agent; install it or give its path.` : null,
    }
  }
  if (!isFile(program)) return { path: null, problem: `${program} does not exist.` }
  if (!isExecutable(program)) {
    return {
      path: null,
      problem: `${program} is not executable; use chmod +x, or write its interpreter before it.`,
    }
  }
  return { path: program, problem: null }
}

/** One agent of the configuration. */
export interface CommandAgent {
  /** The name the user gave it. */
  readonly name: string
  readonly config: CommandAgentConfig
  /** Absolute: where relative paths of the configuration start. */
  readonly base: string
}
