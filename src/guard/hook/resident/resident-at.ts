import { join } from 'node:path'
import type { HookReply } from '../../../agents/hook-codec.ts'
import { guardHome } from '../../../guard-engine/ledger/ledger-place.ts'
import { guardKey } from '../../../guard-engine/ledger/seal-line.ts'
import { isSocket } from '../../../io/path-kind.ts'
import { privateDirectory } from '../../../io/private-store.ts'
import { sha256 } from '../../../io/sha256.ts'
import type { HookInvocation, RunningHook } from '../answer-hook.ts'

/** The helper that stays between hooks, as one hook sees it. */
export interface Resident {
  /** null when it does not answer: then the hook answers itself. */
  ask(request: HookInvocation): Promise<HookReply | null>
  /** For those who come later. Does not wait for it. */
  start(): Promise<void>
}

export interface ResidentCall {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly program: RunningHook
  readonly uid: number | null
}

/** null where there can be none: no bundle to run, no safe place for its socket, or switched off. */
export function residentAt({ env, program, uid }: ResidentCall): Resident | null {
  const { node, hookBin, edition } = program
  if (env.GANTRY_GUARD_RESIDENT === 'off' || hookBin === null || !hookBin.endsWith('.js')) return null
  const home = guardHome(env)
  const path = socketPath({ guardHome: home, edition, env, uid })
  if (path === null) return null
  return {
    ask: async (request) => {
      if (!isSocket(path)) return null
      const { askResident } = await import('./resident-frame.ts')
      return askResident(path, request, guardKey(home))
    },
    start: async () => {
      const { startDetached } = await import('../../../io/start-detached.ts')
      startDetached(node, [hookBin, '--serve'], env)
    },
  }
}

/** Variables that programs the helper starts, git above all, find their way by: who has others needs another helper. */
const steering = /^(?:PATH|HOME|TMPDIR|USER|LOGNAME|LANG|LC_\w+|XDG_\w+|GIT_\w+|NODE_\w+)$/

/** The system's limit for the path of a socket is 104 bytes on some, 108 on others, with its end. */
const maxPathBytes = 100

interface ResidentPlace {
  readonly guardHome: string
  readonly edition: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the user, as the system knows it; null where it has none. */
  readonly uid: number | null
}

/** null when no place is safe or short enough: then there is no helper. */
export function socketPath({ guardHome, edition, env, uid }: ResidentPlace): string | null {
  if (uid === null) return null
  const steered = Object.entries(env)
    .filter(([name, value]) => steering.test(name) && value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const name = `${sha256(JSON.stringify([guardHome, edition, steered])).slice(0, 20)}.sock`
  const own = join(guardHome, 'run')
  if (fits(join(own, name))) return privateDirectory(own, uid) ? join(own, name) : null
  const short = `/tmp/gantry-guard-${uid}`
  return privateDirectory(short, uid) ? join(short, name) : null
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= maxPathBytes
}
