import type { HookFileText, HookInstaller, HookPlace } from '../agents/hook-installer.ts'
import { readTextIfExists } from '../io/directory.ts'
import { isFile } from '../io/path-kind.ts'

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
