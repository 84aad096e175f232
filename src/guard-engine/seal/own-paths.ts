import { basename, dirname, join, normalize, sep } from 'node:path'
import type { ResolvedPath } from '../../shell/world.ts'
import { settingPlaces } from '../settings/setting-files.ts'
import { stateDirectory } from '../views/state-directory.ts'

export interface OwnPlace {
  /** Of the project. */
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where ledgers, key and socket are. */
  readonly guardHome: string
  /** The program the hooks start; null when it is not known. */
  readonly hookBin: string | null
  /** Where that program keeps what it makes of itself. */
  readonly bundles?: string
  /** The plugin the hooks come from, when they come from one. */
  readonly pluginDir?: string | null
  /** What the installers name: every file that steers an agent's hooks, in all scopes. */
  readonly agentFiles: readonly string[]
  /** Where the user keeps settings for all projects. */
  readonly userDir?: string
  /** `state.dir` of the settings; `.harness` when absent. */
  readonly stateDir?: string
}

/**
 * Files and directories no tool of the agent may change: what is the guard's own, and what tells an agent which hooks to run.
 * Absolute, as they are written: `realOwnPaths` follows their links. A directory stands for everything below it.
 */
export function ownPaths(place: OwnPlace): readonly string[] {
  return unique([...sealedPaths(place), ...changingPaths(place)])
}

/** Those of them whose content changes only when a person wants it to. */
export function sealedPaths(place: OwnPlace): readonly string[] {
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

/** Each path twice where a link is on the way: as it is reached, for whoever moves the link, and where it leads. */
export function realOwnPaths(
  paths: readonly string[],
  resolve: (path: string) => Pick<ResolvedPath, 'real' | 'kind'>,
): readonly string[] {
  const known = new Map<string, Pick<ResolvedPath, 'real' | 'kind'>>()
  /** What lies in a directory that is not there is not looked for: most of these files never exist, and each look costs. */
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

/** The guard writes these itself. */
function changingPaths({ root, guardHome, bundles, stateDir = usualDir }: OwnPlace): readonly string[] {
  const state = stateDir === usualDir ? null : stateDirectory(root, stateDir)
  return [
    guardHome,
    join(root, usualDir),
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

function hookFilesOfUser({ home, env }: OwnPlace): readonly string[] {
  const own = normalize(home)
  const claude = normalize(env.CLAUDE_CONFIG_DIR || below(own, '.claude'))
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

/** Of the whole machine: only root could write them, and an agent may be root. */
const managedFiles = [
  '/etc/claude-code/managed-settings.json',
  '/etc/claude-code/managed-settings.d',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
  '/etc/codex/config.toml',
  '/etc/codex/hooks.json',
  '/etc/gemini-cli/settings.json',
]

/** As `join` has it for a directory that is normal already, without looking at every letter of it: a hook has dozens of these. */
function below(directory: string, name: string): string {
  return sep === '/' && !directory.endsWith(sep) ? `${directory}/${name}` : join(directory, name)
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)]
}
