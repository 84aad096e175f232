import { guardHome } from '../../../guard-engine/ledger/ledger-place.ts'
import { guardKey } from '../../../guard-engine/ledger/seal-line.ts'
import { answerHook } from '../answer-hook.ts'
import type { ResidentCall } from './resident-at.ts'
import { serveResident } from './serve-resident.ts'
import { socketPath } from './socket-path.ts'
import { tidySockets } from './tidy-sockets.ts'

const defaultIdleMs = 10 * 60_000

/** The helper's whole life. It has the environment of the hook that started it, and answers only hooks that have the same. */
export async function runResident({ env, program, uid }: ResidentCall): Promise<void> {
  const { hookBin, edition } = program
  const home = guardHome(env)
  const path = socketPath({ guardHome: home, edition, env, uid })
  if (hookBin === null || path === null) return
  const idleMs = Number(env.GANTRY_GUARD_IDLE_MS)
  await serveResident({
    path,
    key: guardKey(home),
    hookBin,
    idleMs: Number.isFinite(idleMs) && idleMs > 0 ? idleMs : defaultIdleMs,
    whenReady: () => tidySockets(path),
    answer: async (request) => (await answerHook(request, program)).reply,
  })
}
