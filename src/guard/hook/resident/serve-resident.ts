import type { HookReply } from '../../../agents/hook-codec.ts'
import { fileStamp } from '../../../io/directory.ts'
import { isSocket } from '../../../io/is-socket.ts'
import { acquireLock } from '../../../io/lock.ts'
import { monotonicMs } from '../../../io/monotonic.ts'
import { serveOnSocket } from '../../../io/unix-socket.ts'
import type { HookRequest } from '../hook-request.ts'
import { closeAnswer, openQuestion } from './resident-frame.ts'

export interface ResidentOptions {
  readonly path: string
  readonly key: Uint8Array
  /** The program that runs: when it changes, a helper of the old one must not answer any more. */
  readonly hookBin: string
  readonly idleMs: number
  answer(request: HookRequest): Promise<HookReply>
  /** Called once it can be asked. */
  whenReady(): Promise<void>
}

const maxFrameBytes = 128 * 1024 * 1024
const signOfLifeMs = 150
const lookMs = 1000

/** Answers hooks until nobody has asked for a while. Resolves when it is over, at once when another helper is there. */
export async function serveResident(options: ResidentOptions): Promise<void> {
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
