import { dirname, join, sep } from 'node:path'
import { type HookedAgent, hookCodecs } from '../agents/hook-codecs.ts'
import type { HookPlace } from '../agents/hook-installer.ts'
import { GantryError } from '../core/error.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { appendNote } from '../guard-engine/ledger/open-ledger.ts'
import { currentSeal, sealOf } from '../guard-engine/seal/seal-files.ts'
import { readJsonIfExists, removeTree, writeJsonAtomic } from '../io/files.ts'
import { isFile } from '../io/path-kind.ts'
import type { Store } from '../store/contract.ts'
import { runIds } from '../store/run-id.ts'
import { isLive } from '../store/run-lock.ts'
import type { HookProgram } from './hook-program.ts'
import { type HookTarget, installHooks } from './install-hooks.ts'
import { uninstallHooks } from './uninstall-hooks.ts'

export interface TemporaryGuardRequest {
  readonly agent: HookedAgent
  readonly path: string
  readonly place: HookPlace
  readonly program: HookProgram
  /** Records the install until it is undone, so that a killed run can be cleaned up. */
  readonly runDir: string
}

/** Adds the guard to the project's hooks of one agent. The returned function removes it again. */
export async function installForRun(request: TemporaryGuardRequest): Promise<() => Promise<void>> {
  const { program, runDir } = request
  const memo = memoOf(request)
  writeJsonAtomic(memoPath(runDir), memo)
  await installHooks({ ...targetOf(memo), program, dryRun: false, isSealed: false })
  return () => takeBack(memo, runDir)
}

/** Throws what `installForRun` would throw for the current files. Changes nothing. */
export async function checkInstallable(request: Omit<TemporaryGuardRequest, 'runDir'>): Promise<void> {
  const { program } = request
  await installHooks({ ...targetOf(memoOf(request)), program, dryRun: true, isSealed: false })
}

/**
 * Removes hooks that killed runs of this project left behind. Returns what was done, as sentences. Hooks that cannot be removed now do not
 * block a new run.
 */
export async function removeLeftBehind(store: Store, root: string): Promise<readonly string[]> {
  const done: string[] = []
  for (const { id } of runIds(store)) {
    const dir = join(store.runsDir, id)
    if (!isFile(memoPath(dir))) continue
    const memo = memoFrom(readJsonIfExists(memoPath(dir)))
    if (memo?.root !== root || isLive(dir)) continue
    try {
      await takeBack(memo, dir)
      done.push(`Removed hooks that a killed run left in ${memo.path}.`)
    } catch (error) {
      if (!(error instanceof GantryError)) throw error
      done.push(`Hooks that a killed run left in ${memo.path} could not be removed: ${error.message}.`)
    }
  }
  return done
}

type Memo = ReturnType<typeof memoOf>

function memoOf({ agent, path, place }: Omit<TemporaryGuardRequest, 'runDir'>) {
  return { agent, path, root: place.root, home: place.home, guardHome: guardHome(place.env) }
}

async function takeBack(memo: Memo, runDir: string): Promise<void> {
  await uninstallHooks({ ...targetOf(memo), dryRun: false })
  removeTree(memoPath(runDir))
}

/**
 * Needs no confirmation: it adds something new and removes only that. The seal is updated for this file and its directories, and only if it
 * was intact before, so changes by others are never sealed.
 */
function targetOf({ agent, path, root, home, guardHome }: Memo): HookTarget {
  const env = { GANTRY_GUARD_HOME: guardHome }
  const before = currentSeal(guardHome, root) ?? {}
  const holding = around(path, root).filter(
    (each) => Object.hasOwn(before, each) && sealOf(each) === before[each],
  )
  return {
    agents: [agent],
    scope: 'project',
    place: { root, home, env },
    eventsOf: (one) => hookCodecs[one].events,
    checkPerson: async () => {},
    seal: async () => {
      if (holding.length === 0) return
      const now = Object.fromEntries(holding.map((each) => [each, sealOf(each)]))
      const note = { kind: 'sealed', files: { ...before, ...now } } as const
      appendNote({ guardHome, root, note, nowMs: Date.now() })
    },
  }
}

function around(path: string, root: string): readonly string[] {
  return path === root || !path.startsWith(root + sep) ? [] : [path, ...around(dirname(path), root)]
}

function memoPath(runDir: string): string {
  return join(runDir, 'temporary-guard.json')
}

function memoFrom(value: unknown): Memo | null {
  if (typeof value !== 'object' || value === null) return null
  const { agent, ...texts } = value as Partial<Record<keyof Memo, unknown>>
  const known = Object.keys(hookCodecs).find((name) => name === agent)
  const areTexts = [texts.path, texts.root, texts.home, texts.guardHome].every(
    (text) => typeof text === 'string',
  )
  return known !== undefined && areTexts ? (value as Memo) : null
}
