import { GantryError } from '../../core/error.ts'
import { forEachLimited } from '../../core/for-each-limited.ts'
import type { FindingLog } from './finding-log.ts'
import type { LabNames, LabPlace } from './lab-place.ts'
import type { Lab } from './open-lab.ts'
import type { TryHandlerOptions } from './try-handler.ts'

/** What all attempts of one lab share. */
export interface LabRun extends Omit<TryHandlerOptions, 'place'> {
  readonly lab: Lab
  readonly names: LabNames
  readonly log: FindingLog
  /** Directory of the plugin itself, not of its copy. */
  readonly pluginPath: string
  readonly attacks: 'when_said' | 'always' | 'never'
  readonly concurrency: number
}

/** Runs the work in a new place and removes it afterwards. */
export async function inPlace<T>({ lab }: LabRun, work: (place: LabPlace) => Promise<T>): Promise<T> {
  const place = await lab.newPlace()
  try {
    return await work(place)
  } finally {
    lab.discard(place)
  }
}

/** Runs some at a time and returns the results in the order of the items. An error is thrown after all have ended. */
export async function eachAtMost<T, R>(
  { concurrency, signal }: LabRun,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const answers = new Map<T, R>()
  const thrown: unknown[] = []
  await forEachLimited(concurrency, items, async (item) => {
    if (thrown.length > 0) return
    try {
      answers.set(item, await work(item))
    } catch (error) {
      thrown.push(error)
    }
  })
  if (signal.aborted)
    throw new GantryError('INTERRUPTED', 'the hook lab was interrupted', { cause: signal.reason })
  if (thrown.length > 0) throw thrown[0]
  return items.flatMap((item) => (answers.has(item) ? [answers.get(item) as R] : []))
}
