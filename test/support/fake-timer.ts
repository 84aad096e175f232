import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Timer } from '../../src/io/timer.ts'

/** Turns of the event loop in which nobody asks for another wait, before the first wait ends. */
const quietTurns = 25

/** A timer whose time jumps to the end of the next wait as soon as nothing else happens. */
export function fakeTimer(): Timer {
  let nowMs = 1_000
  let asked = 0
  let isRunning = false
  const waits: { readonly endMs: number; readonly end: () => void }[] = []
  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    while (waits.length > 0) {
      const before = asked
      for (let turn = 0; turn < quietTurns; turn += 1) await nextTurn()
      if (before !== asked) continue
      const next = waits.toSorted((a, b) => a.endMs - b.endMs)[0]
      if (next === undefined) break
      waits.splice(waits.indexOf(next), 1)
      nowMs = Math.max(nowMs, next.endMs)
      next.end()
    }
    isRunning = false
  }
  return {
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        asked += 1
        const wait = { endMs: nowMs + ms, end: resolve }
        waits.push(wait)
        signal.addEventListener(
          'abort',
          () => {
            if (waits.includes(wait)) waits.splice(waits.indexOf(wait), 1)
            reject(signal.reason)
          },
          { once: true },
        )
        void run()
      }),
  }
}
