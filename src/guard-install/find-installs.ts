import type { HookedAgent } from '../agents/hook-codecs.ts'
import type { HookFileText, HookInstaller, HookPlace, HookScope } from '../agents/hook-installer.ts'
import { GantryError } from '../core/error.ts'
import { parseJsonc, plainValue } from '../core/jsonc/parse-jsonc.ts'
import { readTextIfExists } from '../io/directory.ts'
import { isExecutable } from '../io/find-program.ts'
import { isFile } from '../io/path-kind.ts'
import { hookCommand, launcherProblems } from './hook-launcher.ts'
import type { HookProgram } from './hook-program.ts'

export interface FoundInstall {
  readonly scope: HookScope
  readonly path: string
  readonly presence: 'installed' | 'outdated' | 'disabled' | 'unreadable'
  /** Why these hooks do not hold the agent as they should. */
  readonly problems: readonly string[]
}

interface Where {
  readonly place: HookPlace
  readonly program: HookProgram
}

/** Every place from which this agent would start the guard. */
export function findInstalls(
  agent: HookedAgent,
  installer: HookInstaller,
  { place, program }: Where,
): readonly FoundInstall[] {
  const scopes = installer.scopes.filter((scope) => scope !== 'plugin')
  const files = readFiles([...new Set(scopes.flatMap((scope) => installer.files(scope, place)))])
  const off = whySwitchedOff(installer, files, place)
  const own = scopes.flatMap((scope) => {
    const file = files.find(({ path }) => path === installer.files(scope, place)[0])
    const found =
      file === undefined ? null : inspect(agent, installer, { file, scope, program, env: place.env })
    return found === null ? [] : [found]
  })
  const plugin = agent === 'claude-code' ? enabledPlugin(files) : null
  const installs: readonly FoundInstall[] =
    plugin === null ? own : [...own, { scope: 'plugin', path: plugin, presence: 'installed', problems: [] }]
  return off === null
    ? installs
    : installs.map((found) => ({ ...found, presence: 'disabled', problems: [...found.problems, off] }))
}

function inspect(
  agent: HookedAgent,
  installer: HookInstaller,
  {
    file,
    scope,
    program,
    env,
  }: {
    readonly file: HookFileText
    readonly scope: HookScope
    readonly program: HookProgram
    readonly env: HookPlace['env']
  },
): FoundInstall | null {
  const { path, text } = file
  try {
    const presence = installer.inspect(text, hookCommand(agent, program, env))
    if (presence.kind === 'absent' || text === null) return null
    const missing = installer.programs(text).flatMap(missingProgram)
    const problems =
      presence.kind === 'outdated'
        ? [
            `${presence.differences.join('; ')}; run \`gantry guard install --agent ${agent} --scope ${scope}\``,
          ]
        : presence.kind === 'disabled'
          ? [presence.why]
          : []
    return { scope, path, presence: presence.kind, problems: [...missing, ...problems] }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    // Whether ours are in it cannot be told from what does not parse; their mark can.
    if (text === null || !/hook-bin\.|gantry-hook\./.test(text)) return null
    const { line, column } = error.at ?? {}
    return { scope, path, presence: 'unreadable', problems: [`${path}:${line}:${column}: ${error.message}`] }
  }
}

function missingProgram(path: string): readonly string[] {
  if (!isFile(path)) return [`${path}, which the hook starts, is not there`]
  const problems = launcherProblems(path, (started) => !isFile(started))
  if (problems.length > 0) return problems
  const isScript = /\.(?:js|ts)$/.test(path)
  return isScript || isExecutable(path) ? [] : [`${path}, which the hook starts, is not executable`]
}

/** The settings file that switches on the guard's plugin for Claude Code; null when none does. */
function enabledPlugin(files: readonly HookFileText[]): string | null {
  return files.find(({ text }) => text !== null && isEnabled(text))?.path ?? null
}

function isEnabled(text: string): boolean {
  const parsed = parseJsonc(text, { comments: false })
  const settings = parsed.kind === 'parsed' ? plainValue(parsed.node) : null
  if (typeof settings !== 'object' || settings === null || !('enabledPlugins' in settings)) return false
  const { enabledPlugins } = settings
  if (typeof enabledPlugins !== 'object' || enabledPlugins === null) return false
  return Object.entries(enabledPlugins).some(([name, on]) => /^gantry-guard@/.test(name) && on === true)
}

export function readFiles(paths: readonly string[]): readonly HookFileText[] {
  return paths.map((path) => ({ path, text: isFile(path) ? readTextIfExists(path) : null }))
}

/** Why the agent runs no hook of these files although one is there; null when nothing says so. */
export function whySwitchedOff(
  installer: HookInstaller,
  files: readonly HookFileText[],
  place: HookPlace,
): string | null {
  return installer.switchedOff?.(files, place) ?? null
}
