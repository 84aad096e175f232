import { isAbsolute, join, relative } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { cacheDirectory } from '../../io/host.ts'
import { isRoot } from '../../io/is-root.ts'
import type { SessionRequest } from '../contract.ts'
import type { CliAgent, CliConfig, CliInstance, CliLaunch, CliPlace, CliStart } from './contract.ts'
import { locate } from './locate.ts'

export type PreparedStart =
  | { readonly kind: 'ready'; readonly start: CliStart }
  | { readonly kind: 'refused'; readonly argv: CliStart['argv']; readonly problem: string }

/** Where the agent's settings are looked up and what it may keep. */
export function cliPlace<Config extends CliConfig>(
  { driver }: CliAgent<Config>,
  { base }: CliInstance<Config>,
): CliPlace {
  return { base, isRoot: isRoot(), cache: join(cacheDirectory(), driver) }
}

/** Finds the program and writes the files it must find when it starts. Nothing is started. */
export function prepareStart<Config extends CliConfig>(
  definition: CliAgent<Config>,
  instance: CliInstance<Config>,
  launch: CliLaunch,
  request: SessionRequest,
): PreparedStart {
  const { name, config } = instance
  const located = locate(definition, instance, request.env)
  const program = located.kind === 'found' ? located.path : (config.binary ?? definition.program)
  const argv: CliStart['argv'] = [program, ...launch.args, ...config.args]
  const refused = (problem: string): PreparedStart => ({ kind: 'refused', argv, problem })
  if (located.kind === 'missing') return refused(located.problem)
  if (argv.some((word) => word.includes('\0')))
    return refused('a command line cannot hold a NUL character, and its settings have one.')
  const fileProblem = request.signal.aborted ? null : writeLaunchFiles(launch.files ?? [], request.workspace)
  if (fileProblem !== null) return refused(fileProblem)
  const env = { ...withoutCredentials(definition, request), ...launch.env }
  return { kind: 'ready', start: { name, argv, env, warnings: launch.warnings ?? [] } }
}

/** An agent whose model is behind the boundary must have no other way to it, whatever the caller's variables say. */
function withoutCredentials<Config extends CliConfig>(
  { credentials }: CliAgent<Config>,
  { env, endpoint }: SessionRequest,
): Readonly<Record<string, string>> {
  if (endpoint === undefined) return env
  return Object.fromEntries(Object.entries(env).filter(([variable]) => !credentials.includes(variable)))
}

/** Writes what the agent must find when it starts; null, or why that could not be done. */
function writeLaunchFiles(files: NonNullable<CliLaunch['files']>, workspace: string): string | null {
  for (const { path, content } of files) {
    // What the agent is judged by must not hold what we put there.
    if (!isAbsolute(path) || isInside(path, workspace))
      return `its settings file ${path} would lie in the workspace: HOME and TMPDIR must be elsewhere.`
    try {
      writeFileAtomic(path, content)
    } catch (cause) {
      if (cause instanceof GantryError) return `its settings could not be written: ${cause.message}`
      throw cause
    }
  }
  return null
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}
