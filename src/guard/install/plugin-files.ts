import { dirname, join } from 'node:path'
import { claudeCodeHooks } from '../../agents/claude-code/hook-config.ts'
import type { HookRegistration } from '../../agents/hook-codec.ts'
import type { HookCommand } from '../../agents/hook-installer.ts'
import { GantryError } from '../../core/error.ts'
import { launcherName } from '../../guard-install/hook-launcher.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'
import { launcherText } from '../../guard-install/launcher-text.ts'
import { readTextIfExists } from '../../io/directory.ts'
import { listFiles } from '../../io/files.ts'
import { platform } from '../../io/host.ts'
import { isFile } from '../../io/path-kind.ts'

export const pluginName = 'gantry-guard'

/** Where Claude Code finds them inside the plugin, wherever it copies the plugin to. */
const inPlugin = (path: string): string => `\${CLAUDE_PLUGIN_ROOT}/${path}`

/** The text of `hooks/hooks.json`: every event, started as given. */
export function pluginHooks(
  events: readonly HookRegistration[],
  start: Pick<HookCommand, 'program' | 'args'> = { program: inPlugin(pluginLauncher), args: [] },
): string {
  const { hooks } = JSON.parse(claudeCodeHooks(events).install(null, { ...start, agentVersion: null }))
  const description = 'Every event the guard judges; one program for all of them.'
  return `${JSON.stringify({ description, hooks }, null, 2)}\n`
}

/** Must be executable. */
export const pluginLauncher = `bin/${launcherName}`

/** The text of the plugin's launcher: the program is in the plugin, Node as given. */
export function pluginLauncherText(node: string): string {
  const hookBin = "require('node:path').join(__dirname, '../dist/hook-bin.js')"
  return launcherText({ node, hookBin, agent: 'claude-code' })
}

/** A whole plugin for this machine by relative path: what is published, with the Node that runs now and the program in it. */
export function pluginFiles(
  events: readonly HookRegistration[],
  { node, hookBin }: HookProgram,
): ReadonlyMap<string, string> {
  const bundle = hookBin.endsWith('.js') ? readTextIfExists(hookBin) : null
  if (bundle === null) {
    throw new GantryError('NOT_FOUND', 'a plugin needs the hook program in one file, and there is none yet', {
      hint: 'Build it first: npm run build.',
    })
  }
  const source = pluginSource()
  const published = listFiles(source, { exclude: (name) => name === 'dist' || name.startsWith('dist/') })
  return new Map([
    ...published.map((name) => [name, readTextIfExists(join(source, name)) ?? ''] as const),
    // Windows starts no scripts by their first line.
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
  for (
    let directory = import.meta.dirname;
    dirname(directory) !== directory;
    directory = dirname(directory)
  ) {
    const found = join(directory, 'plugins', pluginName)
    if (isFile(join(found, '.claude-plugin', 'plugin.json'))) return found
  }
  throw new GantryError('NOT_FOUND', `plugins/${pluginName} is not there`, { hint: 'Install Gantry again.' })
}
