import { dirname, join, relative } from 'node:path'
import { type HookedAgent, hookCodecs } from '../agents/hook-codecs.ts'
import type { HookPresence } from '../agents/hook-installer.ts'
import { hookInstallerOf } from '../agents/hook-installers.ts'
import { GantryError } from '../core/error.ts'
import type { Variables } from '../core/expand.ts'
import type { MissingHook } from '../guard-engine/contract.ts'
import { projectHookFiles, startsGuard } from '../guard-engine/hook-files.ts'
import { modifiedAtMs } from '../io/directory.ts'
import { moveAside } from '../io/file-state.ts'
import { homeDirectory } from '../io/host.ts'
import { entryKind, isDirectory, pathKind } from '../io/path-kind.ts'
import { readShortText } from '../io/read-short-text.ts'
import { readForeignFile, replaceForeignFile } from '../io/replace-file.ts'
import { sha256 } from '../io/sha256.ts'
import { excludeFromGit, worktreesOf } from './git-exclude.ts'
import { applyInstall, planInstall } from './hook-file-change.ts'
import { hookCommand, hookLauncher, writeLauncher } from './hook-launcher.ts'
import type { HookProgram } from './hook-program.ts'
import { allReceipts, type Receipt } from './receipt.ts'

interface Kept {
  /** Real path of the project. */
  readonly root: string
  readonly env: Variables
}

/** Hooks that `install` wrote, in any project, and that are gone or switched off. Makes git ignore those of this project. */
export function noticeHooks({ root, env }: Kept): readonly MissingHook[] {
  const receipts = allReceipts(env)
  for (const { path } of receipts) if (placeOf(path)?.root === root) excludeFromGit(path)
  return receipts.flatMap((receipt) => troubleOf(receipt, env, ['absent', 'disabled']) ?? [])
}

/**
 * After a call of the agent: puts hooks of this project back that the call removed or changed, and adds them to worktrees that it made. Without a
 * program, or where a file cannot be written, they are only reported.
 */
export function keepHooks({
  root,
  env,
  program,
}: Kept & { readonly program: HookProgram | null }): readonly MissingHook[] {
  const receipts = allReceipts(env).filter(({ path }) => placeOf(path)?.root === root)
  const gone = receipts.flatMap((receipt) => {
    const trouble = troubleOf(receipt, env, ['absent', 'disabled', 'outdated'])
    const place = placeOf(receipt.path)
    if (trouble === null || place === null) return []
    const result = trouble.why === undefined ? putBack(receipt, { ...place, path: receipt.path }) : 'missing'
    return [{ ...trouble, result }]
  })
  const added = worktreesOf(root).flatMap(({ top, here }) =>
    receipts.flatMap((receipt): readonly MissingHook[] => {
      const { path } = receipt
      const place = placeOf(path)
      const other = join(top, relative(here, path))
      if (place === null || startsGuard(readShortText(other, maxBytes) ?? '')) return []
      const found = { path: other, root: join(top, relative(here, root)), agent: place.agent }
      const result = putBack(receipt, found) === 'put back' ? 'added' : 'missing'
      return [{ ...found, isOfUser: false, sinceMs: null, result }]
    }),
  )
  return [...gone, ...added]

  function putBack(
    receipt: Receipt,
    { path, root: at, agent }: HookFilePlace & { readonly path: string },
  ): MissingHook['result'] {
    if (program === null) return 'missing'
    try {
      clearWay(dirname(path), at)
      if (path === receipt.path && receipt.original !== null && pathKind(path) === null)
        replaceForeignFile(readForeignFile(path), receipt.original)
      writeHooks(receipt, { agent, root: at, env, program })
      return 'put back'
    } catch (error) {
      if (!(error instanceof GantryError)) throw error
      return 'missing'
    }
  }
}

/** A branch may have a file where the directory of the hooks was. It is kept beside its place. */
function clearWay(directory: string, root: string): void {
  if (!directory.startsWith(`${root}/`)) return
  clearWay(dirname(directory), root)
  if (entryKind(directory) === 'file') moveAside(directory, freeName(`${directory}.not-gantry`))
}

function freeName(path: string): string {
  return entryKind(path) === null ? path : freeName(`${path}~`)
}

/** With the command of the receipt: another version of Gantry may be running now. */
function writeHooks(
  receipt: Receipt,
  { agent, root, env, program }: HookFilePlace & { readonly env: Variables; readonly program: HookProgram },
): void {
  const installer = hookInstallerOf(agent, hookCodecs[agent])
  const launcher = hookLauncher(agent, program, env)
  const place = { root, home: homeDirectory(env), env }
  if (receipt.command === undefined && launcher !== null) writeLauncher(launcher)
  const usual = hookCommand(agent, program, { env, root })
  // The worktree is another place.
  const command =
    receipt.command === undefined
      ? usual
      : { ...receipt.command, ...(usual.onlyIf && { onlyIf: usual.onlyIf }) }
  const change = planInstall(installer, { scope: 'project', place, command })
  excludeFromGit(change.file.path)
  applyInstall(change, { env })
}

/** null while the agent runs the hooks of the file, and for a project that does not exist any more. */
function troubleOf(
  receipt: Receipt,
  env: Variables,
  /** A newer Gantry calls hooks outdated although they were not changed. */
  bad: readonly HookPresence['kind'][],
): MissingHook | null {
  const { path, written } = receipt
  const place = placeOf(path)
  if (place === null || !isDirectory(place.root)) return null
  const text = readShortText(path, maxBytes)
  if (text !== null && written.includes(sha256(text))) return null
  const found = text === null ? ({ kind: 'absent' } as const) : presenceOf(place.agent, text, receipt)
  if (!bad.includes(found.kind)) return null
  const isOfUser = place.root === homeDirectory(env)
  const why = found.kind === 'disabled' && { why: found.why }
  return { ...place, path, isOfUser, sinceMs: goneSince(path), ...why, result: 'missing' }
}

function presenceOf(agent: HookedAgent, text: string, { command }: Receipt): HookPresence {
  try {
    return hookInstallerOf(agent, hookCodecs[agent]).inspect(text, command ?? { program: '', args: [] })
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return { kind: 'disabled', why: error.message }
  }
}

/** When the file, or the nearest directory above it, last changed: the hooks were gone then at the latest. */
export function goneSince(path: string): number | null {
  const changed = modifiedAtMs(path)
  if (changed !== null) return changed
  return dirname(path) === path ? null : goneSince(dirname(path))
}

interface HookFilePlace {
  readonly agent: HookedAgent
  /** The project; the home directory for hooks of a user. */
  readonly root: string
}

/** null for a file in an unusual place, such as `CLAUDE_CONFIG_DIR`. */
function placeOf(path: string): HookFilePlace | null {
  const found = [...projectHookFiles, ...userHookFiles].find(([, name]) => path.endsWith(`/${name}`))
  return found === undefined ? null : { agent: found[0], root: path.slice(0, -found[1].length - 1) }
}

/** Those of a user that have another name than those of a project. */
const userHookFiles = [
  ['claude-code', '.claude/settings.json'],
  ['copilot', '.copilot/hooks/gantry.json'],
  ['opencode', '.config/opencode/plugins/gantry-guard.js'],
] as const

const maxBytes = 16 * 1024 * 1024
