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
  /** The file that will have the hooks. */
  readonly path: string
  readonly place: HookPlace
  readonly program: HookProgram
  /** Remembers the install until it is taken back: whoever is killed in between is cleaned up after. */
  readonly runDir: string
}

/** Puts the guard into the project's hooks of one agent. What comes back takes it out again. */
export async function installForRun(request: TemporaryGuardRequest): Promise<() => Promise<void>> {
  const { agent, path, place, program, runDir } = request
  const memo: Memo = { agent, path, root: place.root, home: place.home, guardHome: guardHome(place.env) }
  writeJsonAtomic(memoPath(runDir), memo)
  await installHooks({ ...targetOf(memo), program, dryRun: false, isSealed: false })
  return () => takeBack(memo, runDir)
}

/** Throws what `installForRun` would throw for the files as they are, and changes nothing. */
export async function checkInstallable(request: Omit<TemporaryGuardRequest, 'runDir'>): Promise<void> {
  const { agent, path, place, program } = request
  const memo: Memo = { agent, path, root: place.root, home: place.home, guardHome: guardHome(place.env) }
  await installHooks({ ...targetOf(memo), program, dryRun: true, isSealed: false })
}

/**
 * Takes out hooks that runs of this project left behind because they were killed. Answers what was done, in sentences: one that
 * cannot be taken out now does not keep a new run from working.
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
      done.push(`Hooks that a killed run left in ${memo.path} were taken out.`)
    } catch (error) {
      if (!(error instanceof GantryError)) throw error
      done.push(`Hooks that a killed run left in ${memo.path} could not be taken out: ${error.message}.`)
    }
  }
  return done
}

interface Memo {
  readonly agent: HookedAgent
  readonly path: string
  readonly root: string
  readonly home: string
  readonly guardHome: string
}

async function takeBack(memo: Memo, runDir: string): Promise<void> {
  await uninstallHooks({ ...targetOf(memo), dryRun: false })
  removeTree(memoPath(runDir))
}

/**
 * No person is asked: what is put in was not there before, and only that is taken out. The seal follows for the one file and
 * for the directories it lies in, and only where it held before: a change somebody else made is never sealed by this.
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
