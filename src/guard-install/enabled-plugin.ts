import type { HookFileText } from '../agents/hook-installer.ts'
import { parseJsonc, plainValue } from '../core/jsonc/parse-jsonc.ts'

/** The settings file that switches on the guard's plugin for Claude Code; null when none does. */
export function enabledPlugin(files: readonly HookFileText[]): string | null {
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
