import { dirname, join } from 'node:path'
import { claudeCodeHooks } from '../agents/claude-code/hook-config.ts'
import type { HookRegistration } from '../agents/hook-codec.ts'
import type { HookCommand } from '../agents/hook-installer.ts'
import { GantryError } from '../core/error.ts'
import { namesIn, readTextIfExists } from '../io/directory.ts'
import { listFiles, readJsonIfExists, removeTree, writeFileAtomic } from '../io/files.ts'
import { platform } from '../io/host.ts'
import { withAncestors } from '../io/path-below.ts'
import { isFile, pathKind } from '../io/path-kind.ts'
import { hasProgram, makeExecutable } from '../io/private-files.ts'
import { removeIfEmpty } from '../io/remove-if-empty.ts'
import { launcherName, launcherText } from './hook-launcher.ts'
import { bundledHook, type HookProgram } from './hook-program.ts'
import { showChange } from './show-change.ts'

const pluginName = 'gantry-guard'

/** Resolves a path inside the plugin, wherever Claude Code copies it. */
const inPlugin = (path: string): string => `\${CLAUDE_PLUGIN_ROOT}/${path}`

/** The text of `hooks/hooks.json`, with every event. */
export function pluginHooks(
  events: readonly HookRegistration[],
  start: Pick<HookCommand, 'program' | 'args'> = { program: inPlugin(pluginLauncher), args: [] },
): string {
  const { hooks } = JSON.parse(claudeCodeHooks(events).install(null, start))
  const description = 'Every event the guard judges; one program for all of them.'
  return `${JSON.stringify({ description, hooks }, null, 2)}\n`
}

/** Must be executable. */
const pluginLauncher = `bin/${launcherName}`

/** The text of the plugin's launcher, for the hook program in the plugin and the given Node. */
export function pluginLauncherText(node: string): string {
  const hookBin = "require('node:path').join(__dirname, '../dist/hook-bin.js')"
  return launcherText({ node, hookBin, agent: 'claude-code', ask: null })
}

/** All files of a plugin for this machine, by relative path: the published files, the current Node and the hook program. */
export function pluginFiles(
  events: readonly HookRegistration[],
  { node, hookBin }: HookProgram,
): ReadonlyMap<string, string> {
  const bundle = bundledHook(hookBin)
  if (bundle === null) {
    throw new GantryError(
      'NOT_FOUND',
      'a plugin needs the bundled hook program, which has not been built yet',
      { hint: 'Build it first: npm run build.' },
    )
  }
  const source = pluginSource()
  const published = listFiles(source, { exclude: (name) => name === 'dist' || name.startsWith('dist/') })
  return new Map([
    ...published.map((name) => [name, readTextIfExists(join(source, name)) ?? ''] as const),
    // Windows does not run scripts by their first line.
    ...(platform === 'win32'
      ? [['hooks/hooks.json', pluginHooks(events, { program: node, args: bundleArguments })] as const]
      : [
          ['hooks/hooks.json', pluginHooks(events)] as const,
          [pluginLauncher, pluginLauncherText(node)] as const,
        ]),
    ['dist/hook-bin.js', bundle],
  ])
}

const bundleArguments = [inPlugin('dist/hook-bin.js'), '--agent', 'claude-code']

/** `plugins/gantry-guard` of the package or of the checkout. */
function pluginSource(): string {
  const places = withAncestors(import.meta.dirname).map((directory) => join(directory, 'plugins', pluginName))
  const found = places.find((place) => isFile(join(place, '.claude-plugin', 'plugin.json')))
  if (found !== undefined) return found
  throw new GantryError('NOT_FOUND', `plugins/${pluginName} does not exist`, {
    hint: 'Install Gantry again.',
  })
}

export interface PluginOutcome {
  readonly path: string
  readonly result: 'installed' | 'updated' | 'unchanged' | 'removed' | 'absent'
  readonly diff: string
}

/** Writes exactly these files to the directory. Refuses a directory that contains anything but this plugin. */
export function writeGuardPlugin(
  path: string,
  files: ReadonlyMap<string, string>,
  { dryRun }: { readonly dryRun: boolean },
): PluginOutcome {
  const isThere = checkOurs(path)
  const changed = [...files].filter(([name, text]) => !isWritten(join(path, name), text, isProgram(name)))
  const diff = changed.map(([name, text]) => diffOf(path, name, text)).join('')
  if (!dryRun) {
    for (const [name, text] of changed) {
      writeFileAtomic(join(path, name), text)
      if (isProgram(name)) makeExecutable(join(path, name), 0o755)
    }
  }
  return { path, result: changed.length === 0 ? 'unchanged' : isThere ? 'updated' : 'installed', diff }
}

function isProgram(name: string): boolean {
  return name.startsWith('bin/')
}

function isWritten(path: string, text: string, isProgram: boolean): boolean {
  return isProgram ? hasProgram(path, text) : readTextIfExists(path) === text
}

/** Files of others beside it stay. */
export function removeGuardPlugin(
  path: string,
  names: Iterable<string>,
  { dryRun }: { readonly dryRun: boolean },
): PluginOutcome {
  if (!checkOurs(path)) return { path, result: 'absent', diff: '' }
  const there = [...names].filter((name) => pathKind(join(path, name)) === 'file')
  const diff = there.map((name) => diffOf(path, name, null)).join('')
  if (!dryRun) {
    for (const name of there) removeTree(join(path, name))
    const directories = new Set(there.flatMap((name) => withAncestors(dirname(name))))
    for (const directory of [...directories].sort((a, b) => b.length - a.length))
      removeIfEmpty(join(path, directory))
  }
  return { path, result: 'removed', diff }
}

/** False for a directory that is missing or empty. */
function checkOurs(path: string): boolean {
  const kind = pathKind(path)
  if (kind === null || (kind === 'directory' && namesIn(path).length === 0)) return false
  const manifest =
    kind === 'directory' ? readJsonIfExists(join(path, '.claude-plugin', 'plugin.json')) : undefined
  if (typeof manifest === 'object' && manifest !== null && 'name' in manifest && manifest.name === pluginName)
    return true
  throw new GantryError('USAGE', `${path} exists and is not the guard's plugin`, {
    hint: 'Use a new or empty directory.',
  })
}

function diffOf(path: string, name: string, after: string | null): string {
  const file = join(path, name)
  // The program is one file of thousands of lines, so its diff is not shown.
  if (name.startsWith('dist/')) return `${after === null ? 'remove' : 'write'} ${file}\n`
  return showChange({ file: { path: file, real: file, text: readTextIfExists(file) }, after })
}
