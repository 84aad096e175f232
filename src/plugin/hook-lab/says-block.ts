import { join } from 'node:path'
import { resolveInside } from '../../io/files.ts'
import { readHead } from '../../io/read-head.ts'
import type { HookComponent } from '../analyze/contract.ts'

const headBytes = 64 * 1024
const refusing = /\b(?:den(?:y|ies|ied)|block|reject|forbid|prevent)|exit(?:\s+|\()\s*2\b/i

/** Whether a hook is meant to refuse something, by its own words: of the command, or of the script it starts. */
export function saysBlock({ expected_behavior, handlers }: HookComponent, pluginPath: string): boolean {
  if (expected_behavior === 'block') return true
  return handlers.some(
    ({ action }) => refusing.test(action) || scriptsIn(action).some((path) => fileRefuses(pluginPath, path)),
  )
}

function scriptsIn(action: string): readonly string[] {
  return [...action.matchAll(/\$\{?CLAUDE_PLUGIN_ROOT\}?\/([^\s"'`;|&<>]+)/g)].flatMap(
    ([, path]) => path ?? [],
  )
}

function fileRefuses(pluginPath: string, path: string): boolean {
  if (resolveInside(pluginPath, path).kind !== 'inside') return false
  const head = readHead(join(pluginPath, path), headBytes)
  return head.kind === 'text' && refusing.test(head.text)
}
