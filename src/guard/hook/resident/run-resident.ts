import { basename, dirname, join } from 'node:path'
import type { HookReply } from '../../../agents/hook-codec.ts'
import { GantryError } from '../../../core/error.ts'
import { guardHome } from '../../../guard-engine/ledger/ledger-place.ts'
import { guardKey } from '../../../guard-engine/ledger/seal-line.ts'
import { monotonicMs } from '../../../io/clock.ts'
import { fileStamp, namesIn } from '../../../io/directory.ts'
import { removeTree } from '../../../io/files.ts'
import { acquireLock } from '../../../io/lock.ts'
import { isSocket } from '../../../io/path-kind.ts'
import { isListening, serveOnSocket } from '../../../io/unix-socket.ts'
import { answerHook, type HookInvocation } from '../answer-hook.ts'
import { type ResidentCall, socketPath } from './resident-at.ts'
import { closeAnswer, openQuestion } from './resident-frame.ts'

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

interface ResidentOptions {
  readonly path: string
  readonly key: Uint8Array
  /** The program that runs: when it changes, a helper of the old one must not answer any more. */
  readonly hookBin: string
  readonly idleMs: number
  answer(request: HookInvocation): Promise<HookReply>
  /** Called once it can be asked. */
  whenReady(): Promise<void>
}

const maxFrameBytes = 128 * 1024 * 1024
const signOfLifeMs = 150
const lookMs = 1000

/** Answers hooks until nobody has asked for a while. Resolves when it is over, at once when another helper is there. */
async function serveResident(options: ResidentOptions): Promise<void> {
  const { path, key, hookBin, idleMs } = options
  const lock = acquireLock(`${path}.lock`, { label: 'guard helper' })
  if (lock === null) return
  const stamp = fileStamp(hookBin)
  const isCurrent = (): boolean => fileStamp(hookBin) === stamp
  let lastAskedMs = monotonicMs()
  try {
    const server = await serveOnSocket({
      path,
      maxBytes: maxFrameBytes,
      signOfLifeMs,
      answer: async (frame) => {
        const question = openQuestion(frame, key)
        if (question === null || !isCurrent()) return null
        lastAskedMs = monotonicMs()
        const reply = await options.answer(question.request)
        lastAskedMs = monotonicMs()
        return closeAnswer(reply, question.mac, key)
      },
    })
    await options.whenReady()
    await new Promise<void>((resolve) => {
      const timer = setInterval(
        () => {
          const isIdle = server.busy === 0 && monotonicMs() - lastAskedMs >= idleMs
          // Nobody could reach it any more without its socket.
          if (!isIdle && isCurrent() && isSocket(path)) return
          clearInterval(timer)
          server.close()
          resolve()
        },
        Math.min(lookMs, idleMs),
      )
    })
  } finally {
    lock.release()
  }
}

const patienceMs = 500

/** Removes what killed helpers left beside `own`: sockets nobody listens on, and their locks. Those of living helpers stay. */
async function tidySockets(own: string): Promise<void> {
  const directory = dirname(own)
  try {
    const names = new Set(namesIn(directory).map((name) => name.replace(/\.lock$/, '')))
    for (const name of names)
      if (/^[0-9a-f]{20}\.sock$/.test(name) && name !== basename(own)) await tidySocket(join(directory, name))
  } catch (error) {
    // Only room is at stake.
    if (!(error instanceof GantryError)) throw error
  }
}

/** Under the lock of whoever would listen there: nobody begins to while it is looked at. */
async function tidySocket(path: string): Promise<void> {
  const lock = acquireLock(`${path}.lock`, { label: 'tidies up' })
  if (lock === null) return
  try {
    if (isSocket(path) && !(await isListening(path, patienceMs))) removeTree(path)
  } finally {
    lock.release()
  }
}
