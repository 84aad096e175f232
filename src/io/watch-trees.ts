import { watch } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Wait, because editors write a file in several steps and a run would read a partial file. */
const settleMs = 150

/** Resolves to the first path that changes below any of the directories, once it is quiet again; null when aborted. */
export async function watchTrees(
  directories: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  try {
    const changed = await Promise.any(directories.map((directory) => firstChange(directory, either)))
    await sleep(settleMs, undefined, { signal }).catch(() => {})
    return changed
  } catch (error) {
    if (signal.aborted) return null
    throw error
  } finally {
    stop.abort()
  }
}

async function firstChange(directory: string, signal: AbortSignal): Promise<string> {
  for await (const { filename } of watch(directory, { recursive: true, signal })) {
    if (filename === null || /(^|\/)(\.git|node_modules)(\/|$)|~$|\.swp$|\.tmp$/.test(filename)) continue
    return join(directory, filename)
  }
  throw new Error(`${directory} is no longer watched`)
}
