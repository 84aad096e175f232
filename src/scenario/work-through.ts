import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSlots, type Slot } from './slot.ts'

export interface Workload<T> {
  readonly concurrency: number
  readonly signal: AbortSignal
  /** On the clock of `performance.now()`: nothing is started after it. */
  readonly deadline?: number
  work(item: T, slot: Slot): Promise<'done' | 'not_run'>
  /**
   * Nothing runs, nothing is left to start, and items are parked: resolves when what they wait for has come. Not called
   * after an interruption or an error.
   */
  readonly onAllParked?: () => Promise<void>
}

/**
 * Works through a list with several hands. Resolves to the items that were not done, in order: after an interruption, past
 * the deadline, or because their work said so. The first error stops the start of further items and is thrown when
 * those under way have ended; those that are parked then are given up.
 */
export async function workThrough<T>(items: readonly T[], load: Workload<T>): Promise<T[]> {
  const left = new Set(items)
  const queue = items.values()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let failure: { readonly error: unknown } | null = null
  let isCalling = false
  let isOver = false
  const mayStart = (): boolean =>
    failure === null &&
    !load.signal.aborted &&
    (load.deadline === undefined || performance.now() < load.deadline)

  const start = async (item: T): Promise<void> => {
    const { slot, end: giveBack } = slots.take()
    try {
      if ((await load.work(item, slot)) === 'done') left.delete(item)
    } catch (error) {
      if (!load.signal.aborted) failure ??= { error }
    } finally {
      giveBack()
    }
  }
  /** Those that come back go first: they are nearly done. Those that were given up never come back. */
  const goOn = (): void => {
    if (isOver) return
    while (slots.letIn()) {}
    while (slots.isFree() && mayStart()) {
      const { value, done } = queue.next()
      if (done === true) break
      void start(value)
    }
    if (slots.isEmpty() || (failure !== null && slots.isAllParked())) {
      isOver = true
      end()
    } else if (slots.isAllParked() && !load.signal.aborted) void callParked()
  }
  const callParked = async (): Promise<void> => {
    if (isCalling) return
    isCalling = true
    try {
      // An item may wait for several things, and asks for them one after the other.
      await quiet(slots.moves)
      if (!slots.isAllParked() || load.signal.aborted) return
      const moves = slots.moves()
      await load.onAllParked?.()
      await nextTurn()
      if (slots.moves() === moves && !load.signal.aborted)
        throw new Error('work is parked, and what it waits for does not come')
    } catch (error) {
      failure ??= { error }
    } finally {
      isCalling = false
      goOn()
    }
  }
  const slots = createSlots(load.concurrency, goOn)
  goOn()
  await ended
  if (failure !== null) throw (failure as { readonly error: unknown }).error
  return [...left]
}

/** Resolves when a whole turn of the event loop has changed nothing. */
async function quiet(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); ) {
    before = count()
    await nextTurn()
  }
}
