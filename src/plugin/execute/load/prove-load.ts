import type { LoadedParts } from '../../../agents/contract.ts'
import { realPath } from '../../../io/resolve-links.ts'
import type { ProcessSettings } from '../process-settings.ts'

/**
 * Whether a process has loaded the plugins it was started with, and not the one it was started without. null when it has, else
 * the reason why nothing it does says anything about the plugin.
 */
export function proveLoad(
  { plugins }: Pick<ProcessSettings, 'plugins'>,
  pluginPath: string,
  loaded: LoadedParts,
): string | null {
  if (loaded.plugin_errors.length > 0) return `a plugin did not load: ${loaded.plugin_errors.join('; ')}`
  const there = new Set(loaded.plugins.map(({ path }) => known(path)))
  const missing = plugins.filter((path) => !there.has(known(path)))
  if (missing.length > 0)
    return `Claude Code does not name ${missing.join(' and ')} among the plugins it loaded`
  const isWanted = plugins.includes(pluginPath)
  return !isWanted && there.has(known(pluginPath))
    ? `Claude Code loaded ${pluginPath}, though this arm is without it`
    : null
}

/** Paths are told as they were given or as the system resolves them; some plugins have none. */
function known(path: string): string {
  return path.startsWith('/') ? realPath(path) : path
}
