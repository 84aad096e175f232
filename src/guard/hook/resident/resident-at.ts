import type { HookReply } from '../../../agents/hook-codec.ts'
import { guardHome } from '../../../guard-engine/ledger/ledger-place.ts'
import { guardKey } from '../../../guard-engine/ledger/seal-line.ts'
import { isSocket } from '../../../io/is-socket.ts'
import type { HookProgram, HookRequest } from '../hook-request.ts'
import { socketPath } from './socket-path.ts'

/** The helper that stays between hooks, as one hook sees it. */
export interface Resident {
  /** null when it does not answer: then the hook answers itself. */
  ask(request: HookRequest): Promise<HookReply | null>
  /** For those who come later. Does not wait for it. */
  start(): Promise<void>
}

export interface ResidentCall {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly program: HookProgram
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
      const { askResident } = await import('./ask-resident.ts')
      return askResident(path, request, guardKey(home))
    },
    start: async () => {
      const { startDetached } = await import('../../../io/start-detached.ts')
      startDetached(node, [hookBin, '--serve'], env)
    },
  }
}
