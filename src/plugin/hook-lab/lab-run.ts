import { GantryError } from '../../core/error.ts'
import { forEachLimited } from '../../core/for-each-limited.ts'
import type { FindingLog } from './finding-log.ts'
import type { LabNames, LabPlace } from './lab-place.ts'
import type { Lab } from './open-lab.ts'
import type { TryHandlerOptions } from './try-handler.ts'

/** Shared by all runs of one lab. */
export interface LabRun extends Omit<TryHandlerOptions, 'place'> {
  readonly lab: Lab
  readonly names: LabNames
  readonly log: FindingLog
  /** Directory of the plugin itself, not of its copy. */
  readonly pluginPath: string
  readonly attacks: 'when_said' | 'always' | 'never'
  readonly concurrency: number
}

/** Runs the work in a new place for the event and removes it afterwards. */
export async function inPlace<T>(
  { lab }: LabRun,
  event: string,
  work: (place: LabPlace) => Promise<T>,
): Promise<T> {
  const place = await lab.newPlace(event)
  try {
    return await work(place)
  } finally {
    lab.discard(place)
  }
}

/** Runs a limited number at a time and returns the results in order. An error is thrown after all have ended. */
export async function eachAtMost<T, R>(
  { concurrency, signal }: LabRun,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const answers = new Map<T, R>()
  try {
    await forEachLimited(concurrency, items, async (item) => void answers.set(item, await work(item)))
  } catch (error) {
    if (!signal.aborted) throw error
  }
  if (signal.aborted)
    throw new GantryError('INTERRUPTED', 'the hook lab was interrupted', { cause: signal.reason })
  return items.flatMap((item) => (answers.has(item) ? [answers.get(item) as R] : []))
}
