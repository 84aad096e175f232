import { dirname, join, relative } from 'node:path'
import type { HookedAgent } from '../agents/hook-codecs.ts'
import { settingsIn } from '../agents/hook-config/read-hook-file.ts'
import type { HookFileText, HookInstaller, HookPlace, HookScope } from '../agents/hook-installer.ts'
import { GantryError } from '../core/error.ts'
import { asObject } from '../core/json-fields.ts'
import { shellPrefixName } from '../guard-engine/protection/shell-prefix.ts'
import { readTextIfExists } from '../io/directory.ts'
import { isExecutable } from '../io/find-program.ts'
import { isFile } from '../io/path-kind.ts'
import { realPath } from '../io/resolve-links.ts'
import { worktreesOf } from './git-exclude.ts'
import { hookCommand, launcherProblems } from './hook-launcher.ts'
import type { HookProgram } from './hook-program.ts'
import { goneSince } from './keep-hooks.ts'
import { readReceipt } from './receipt.ts'

export interface FoundInstall {
  readonly scope: HookScope
  readonly path: string
  /** `missing`: they were installed here, and no command of ours removed them. */
  readonly presence: 'installed' | 'outdated' | 'disabled' | 'unreadable' | 'missing'
  /** Why these hooks may not work. */
  readonly problems: readonly string[]
  /** Commands of the agent run through our program. */
  readonly isKernel: boolean
}

/** Every place from which this agent would start the guard. */
export function findInstalls(
  agent: HookedAgent,
  installer: HookInstaller,
  { place, program }: { readonly place: HookPlace; readonly program: HookProgram },
): readonly FoundInstall[] {
  const scopes = installer.scopes.filter((scope) => scope !== 'plugin')
  const files = readFiles([...new Set(scopes.flatMap((scope) => installer.files(scope, place)))])
  const off = installer.switchedOff?.(files, place) ?? null
  const own = scopes.flatMap((scope) => {
    const file = files.find(({ path }) => path === installer.files(scope, place)[0])
    const found =
      file === undefined
        ? null
        : inspect(agent, installer, { file, scope, program, env: place.env, root: place.root })
    return found === null ? [] : [found]
  })
  const plugin = agent === 'claude-code' ? enabledPlugin(files) : null
  const installs: readonly FoundInstall[] =
    plugin === null
      ? own
      : [...own, { scope: 'plugin', path: plugin, presence: 'installed', problems: [], isKernel: false }]
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
    root,
  }: {
    readonly file: HookFileText
    readonly scope: HookScope
    readonly program: HookProgram
    readonly env: HookPlace['env']
    readonly root: string
  },
): FoundInstall | null {
  const { path, text } = file
  try {
    const presence = installer.inspect(
      text,
      hookCommand(agent, program, { env, root: scope === 'project' ? root : null }),
    )
    if (presence.kind === 'absent' || text === null) return missingInstall(agent, { path, scope, env })
    const prefix = installer.shellPrefix?.(text) ?? null
    const isKernel = prefix?.endsWith(`/${shellPrefixName}`) === true
    const missing = [...installer.programs(text), ...(isKernel && prefix !== null ? [prefix] : [])].flatMap(
      missingProgram,
    )
    const problems =
      presence.kind === 'outdated'
        ? [
            `${presence.differences.join('; ')}; run \`gantry guard install --agent ${agent} --scope ${scope}\``,
          ]
        : presence.kind === 'disabled'
          ? [presence.why]
          : []
    return { scope, path, presence: presence.kind, problems: [...missing, ...problems], isKernel }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    // A file that does not parse may still contain our marker.
    if (text === null || !/hook-bin\.|gantry-hook\./.test(text)) return null
    const { line, column } = error.at ?? {}
    const problems = [`${path}:${line}:${column}: ${error.message}`]
    return { scope, path, presence: 'unreadable', problems, isKernel: false }
  }
}

/** Hooks that a receipt shows, of this file or of the same file in another worktree of the repository; null when there is none. */
function missingInstall(
  agent: HookedAgent,
  { path, scope, env }: { readonly path: string; readonly scope: HookScope; readonly env: HookPlace['env'] },
): FoundInstall | null {
  const again = `run \`gantry guard install --agent ${agent}${scope === 'project' ? '' : ` --scope ${scope}`}\``
  const found = (problem: string): FoundInstall => ({
    scope,
    path,
    presence: 'missing',
    problems: [problem],
    isKernel: false,
  })
  const since = goneSince(path)
  if (readReceipt(env, realPath(path)) !== null)
    return found(
      `the hooks are missing${since === null ? '' : ` since ${new Date(since).toISOString()} at the latest`}: sessions of ${agent} are not guarded; ${again}, or \`gantry guard uninstall\` if you removed them`,
    )
  const other =
    scope === 'project'
      ? worktreesOf(dirname(path)).find(
          ({ top, here }) => readReceipt(env, join(top, relative(here, path))) !== null,
        )
      : undefined
  return other === undefined
    ? null
    : found(`the hooks are installed in the worktree ${other.top}, but not in this one; ${again}`)
}

function missingProgram(path: string): readonly string[] {
  if (!isFile(path)) return [`${path}, which the hook starts, does not exist`]
  const problems = launcherProblems(path, (started) => !isFile(started))
  if (problems.length > 0) return problems
  const isScript = /\.(?:js|ts)$/.test(path)
  return isScript || isExecutable(path) ? [] : [`${path}, which the hook starts, is not executable`]
}

/** The settings file that enables the guard's plugin for Claude Code; null when none does. */
function enabledPlugin(files: readonly HookFileText[]): string | null {
  const enabled = files.find(({ text }) => {
    const plugins = asObject(settingsIn(text, { comments: false })?.enabledPlugins) ?? {}
    return Object.entries(plugins).some(([name, on]) => /^gantry-guard@/.test(name) && on === true)
  })
  return enabled?.path ?? null
}

export function readFiles(paths: readonly string[]): readonly HookFileText[] {
  return paths.map((path) => ({ path, text: isFile(path) ? readTextIfExists(path) : null }))
}
