import { basename, dirname, join } from 'node:path'
import type { HookedAgent } from '../agents/hook-codecs.ts'
import { GantryError } from '../core/error.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { namesIn, readTextIfExists } from '../io/directory.ts'
import { platform } from '../io/host.ts'
import { isFile } from '../io/path-kind.ts'
import { hasProgram, writePrivateProgram } from '../io/private-program.ts'
import { sha256 } from '../io/sha256.ts'
import type { HookProgram } from './hook-program.ts'
import { launchedPrograms, launcherText } from './launcher-text.ts'

/** A program of its own for the hooks of one agent, so that they need no arguments. */
export interface HookLauncher {
  readonly path: string
  readonly text: string
}

/** Why each has one. */
const launched = new Set<HookedAgent>([
  // Copilot too runs its hooks, and leaves their arguments away: a bare `node` fails there, and a hook that fails denies every tool.
  'claude-code',
  // A tool call passes when its hook ends with code 1, as Node does when it does not find its program; a shell that took care of
  // it would be killed in its place when it hangs.
  'gemini',
])

/**
 * The path has the hash of the text in it, so that installs by different versions never change each other's. An
 * uninstall leaves it for a while (`tidyPrograms`): a session that runs keeps the hooks it began with. null for agents whose hooks are told all they need.
 */
export function hookLauncher(
  agent: HookedAgent,
  { node, hookBin }: HookProgram,
  env: Readonly<Record<string, string | undefined>>,
): HookLauncher | null {
  // Windows starts no scripts by their first line.
  if (!launched.has(agent) || platform === 'win32') return null
  const text = launcherText({ node, hookBin: JSON.stringify(hookBin), agent })
  const directory = `${agent}-${sha256(text).slice(0, hashLength)}`
  return { path: join(guardHome(env), 'bin', directory, launcherName), text }
}

export const launcherName = 'gantry-hook.cjs'
const hashLength = 12

export function isLauncherThere({ path, text }: HookLauncher): boolean {
  return hasProgram(path, text)
}

export function writeLauncher({ path, text }: HookLauncher): void {
  if (hasProgram(path, text) || writePrivateProgram(path, text)) return
  throw new GantryError('NOT_WRITABLE', `${path} cannot be started where it is`, {
    hint: 'Its file system lets no program run. Set GANTRY_GUARD_HOME to a directory on another one.',
  })
}

/** Those somebody may need, of whatever version: each stays as it is for good. */
export function writtenLaunchers(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return allLaunchers(env).filter((path) => !isFile(unusedMark(path)))
}

export function allLaunchers(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const directory = join(guardHome(env), 'bin')
  return namesIn(directory)
    .map((name) => join(directory, name, launcherName))
    .filter(isFile)
}

/** Beside a launcher that no hook with a receipt starts: its time tells since when. */
export function unusedMark(launcher: string): string {
  return join(dirname(launcher), 'unused')
}

/** What is wrong with a launcher that stands in somebody's hooks; none for another program. */
export function launcherProblems(path: string, isMissing: (program: string) => boolean): readonly string[] {
  if (basename(path) !== launcherName) return []
  const text = readTextIfExists(path)
  if (text === null) return []
  if (!dirname(path).endsWith(`-${sha256(text).slice(0, hashLength)}`))
    return [`${path}, which the hook starts, is not as it was written`]
  return launchedPrograms(text)
    .filter(isMissing)
    .map((program) => `${program}, which the hook starts, is not there`)
}
