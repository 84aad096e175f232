import { basename, dirname, join, normalize, sep } from 'node:path'
import type { ResolvedPath } from '../../shell/world.ts'
import { settingPlaces } from '../settings/setting-files.ts'
import { stateDirectory } from '../views/state-directory.ts'

export interface GuardLocation {
  /** Root of the project. */
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Directory of the ledgers, the key and the socket. */
  readonly guardHome: string
  /** The program that the hooks start; null when unknown. */
  readonly hookBin: string | null
  /** Where that program keeps the bundles built from its sources. */
  readonly bundles?: string
  /** The plugin that provides the hooks, if any. */
  readonly pluginDir?: string | null
  /** Every file that controls an agent's hooks, in all scopes, from the installers. */
  readonly agentFiles: readonly string[]
  /** `state.dir` of the settings; `.harness` when absent. */
  readonly stateDir?: string
}

/**
 * Files and directories that no tool of the agent may change: the guard's own files, and those that configure which hooks an agent runs.
 * Absolute, with links unresolved: `realGuardedPaths` resolves them. A directory includes everything below it.
 */
export function guardedPaths(place: GuardLocation): readonly string[] {
  return unique([...sealedPaths(place), ...changingPaths(place)])
}

/** Those whose content changes only when a person wants it to. */
export function sealedPaths(place: GuardLocation): readonly string[] {
  const { hookBin, pluginDir, agentFiles } = place
  return unique([
    ...settingPlaces(place),
    ...(hookBin === null ? [] : [hookBin]),
    ...(pluginDir === undefined || pluginDir === null ? [] : [pluginDir]),
    ...hookFilesInProject(place.root),
    ...hookFilesOfUser(place),
    ...managedFiles,
    ...agentFiles,
  ])
}

/** Each path twice if there is a link in it: unresolved, in case the link is moved, and resolved. */
export function realGuardedPaths(
  paths: readonly string[],
  resolve: (path: string) => Pick<ResolvedPath, 'real' | 'kind'>,
): readonly string[] {
  const known = new Map<string, Pick<ResolvedPath, 'real' | 'kind'>>()
  /** Nothing is looked up in a missing directory: most of these files never exist, and each lookup costs time. */
  const look = (path: string): Pick<ResolvedPath, 'real' | 'kind'> => {
    const before = known.get(path)
    if (before !== undefined) return before
    const parent = dirname(path)
    const above = parent === path ? undefined : look(parent)
    const found =
      above?.kind === 'missing'
        ? { real: below(above.real, basename(path)), kind: 'missing' as const }
        : resolve(path)
    known.set(path, found)
    return found
  }
  return unique(
    paths.flatMap((path) => [path, below(look(dirname(path)).real, basename(path)), look(path).real]),
  )
}

/** The guard and the agents write these themselves. */
function changingPaths({
  root,
  guardHome,
  bundles,
  stateDir = usualDir,
  home,
  env,
}: GuardLocation): readonly string[] {
  const state = stateDir === usualDir ? null : stateDirectory(root, stateDir)
  return [
    guardHome,
    join(root, usualDir),
    // Functions in them take the place of programs in every command.
    below(claudeHome({ home, env }), 'shell-snapshots'),
    ...(bundles === undefined ? [] : [bundles]),
    ...(state?.kind === 'usable' ? [state.path] : []),
  ]
}

const usualDir = '.harness'

function hookFilesInProject(root: string): readonly string[] {
  return [
    '.claude/settings.json',
    '.claude/settings.local.json',
    '.codex/hooks.json',
    '.codex/config.toml',
    '.gemini/settings.json',
    '.github/hooks',
    '.github/copilot/settings.json',
    '.github/copilot/settings.local.json',
    '.cursor/hooks.json',
    '.opencode/plugin',
    '.opencode/plugins',
    'opencode.json',
    'opencode.jsonc',
  ].map((name) => below(root, name))
}

function hookFilesOfUser({ home, env }: GuardLocation): readonly string[] {
  const own = normalize(home)
  const claude = claudeHome({ home, env })
  const codex = normalize(env.CODEX_HOME || below(own, '.codex'))
  const opencode = join(env.XDG_CONFIG_HOME || below(own, '.config'), 'opencode')
  return [
    below(claude, 'settings.json'),
    below(claude, 'settings.local.json'),
    below(codex, 'hooks.json'),
    below(codex, 'config.toml'),
    below(own, '.gemini/settings.json'),
    below(own, '.copilot/hooks'),
    below(own, '.copilot/config.json'),
    below(own, '.copilot/settings.json'),
    below(own, '.cursor/hooks.json'),
    ...['plugin', 'plugins', 'opencode.json', 'opencode.jsonc'].map((name) => below(opencode, name)),
  ]
}

function claudeHome({ home, env }: Pick<GuardLocation, 'home' | 'env'>): string {
  return normalize(env.CLAUDE_CONFIG_DIR || below(normalize(home), '.claude'))
}

/** System-wide files: only root can write them, but an agent may run as root. */
const managedFiles = [
  '/etc/claude-code/managed-settings.json',
  '/etc/claude-code/managed-settings.d',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
  '/etc/codex/config.toml',
  '/etc/codex/hooks.json',
  '/etc/gemini-cli/settings.json',
]

/** Like `join` for a normalized directory, without scanning every character. A hook has dozens of these. */
function below(directory: string, name: string): string {
  return sep === '/' && !directory.endsWith(sep) ? `${directory}/${name}` : join(directory, name)
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)]
}
