import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CappedOutput } from './capped-output.ts'

type FollowedOutput = ReturnType<typeof followOutput>

/** Reads a child's output stream into a capped buffer. */
export function followOutput(stream: Readable, captured: CappedOutput, onChunk: (chunk: Uint8Array) => void) {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let hasEnded = false
  const end = (): void => {
    hasEnded = true
    resolve()
  }
  stream.on('data', (chunk: Buffer) => {
    captured.push(chunk)
    onChunk(chunk)
  })
  // A read error means that nothing more will come, like an end.
  stream.on('error', end).on('end', end).on('close', end)
  return {
    captured,
    ended,
    get hasEnded() {
      return hasEnded
    },
    discard: () => void stream.destroy(),
  }
}

const extraTurnsMax = 16

/** Waits until the streams end, or for `waitMs` and then while there is data, up to a limit. */
export async function drain(outputs: readonly FollowedOutput[], waitMs: number): Promise<void> {
  const haveEnded = (): boolean => outputs.every(({ hasEnded }) => hasEnded)
  if (haveEnded()) return
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, waitMs)
  await Promise.race([late, Promise.all(outputs.map(({ ended }) => ended))])
  clearTimeout(timer)
  // When the loop was busy, the timer fires before the pipes were read.
  for (let turn = 0, before = -1; turn < extraTurnsMax && !haveEnded(); turn++) {
    const read = outputs.reduce((sum, { captured }) => sum + captured.totalBytes, 0)
    if (read === before) return
    before = read
    await nextTurn()
  }
}
