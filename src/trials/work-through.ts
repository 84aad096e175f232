import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TrialSlot } from './contract.ts'

export interface Workload<T> {
  readonly concurrency: number
  readonly signal: AbortSignal
  /** On the clock of `performance.now()`: no item is started after it. */
  readonly deadline?: number
  work(item: T, slot: TrialSlot): Promise<void>
  /**
   * Nothing runs, nothing is left to start, and items are parked: resolves when what they wait for has arrived. Not called
   * after an interruption or an error.
   */
  readonly onAllParked?: () => Promise<void>
}

/**
 * Works on a list, on several items at a time. Ends early after an interruption or past the deadline. The first error stops
 * the start of further items and is thrown when those under way have ended; those that are parked then are given up.
 */
export async function workThrough<T>(items: readonly T[], load: Workload<T>): Promise<void> {
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
      await load.work(item, slot)
    } catch (error) {
      if (!load.signal.aborted) failure ??= { error }
    } finally {
      giveBack()
    }
  }
  /** Items that return from a wait go first: they are nearly done. Those that were given up never return. */
  const goOn = (): void => {
    if (isOver) return
    while (slots.readmit()) {}
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
        throw new Error('all work is parked, and what it waits for does not come')
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
}

/** Resolves when a whole turn of the event loop has changed nothing. */
async function quiet(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); ) {
    before = count()
    await nextTurn()
  }
}

/** The places for trials that run at the same time. */
interface Slots {
  /** Counts the work of one item as running. */
  take(): { readonly slot: TrialSlot; readonly end: () => void }
  /** Gives a free slot to an item that has ended its wait. False when there is no such item or no free slot. */
  readmit(): boolean
  readonly isFree: () => boolean
  readonly isEmpty: () => boolean
  /** Items are under way, and all of them wait. */
  readonly isAllParked: () => boolean
  /** Grows with every item that is parked or returns. */
  readonly moves: () => number
}

/** `changed` is called whenever a slot was given up or is wanted back. */
function createSlots(count: number, changed: () => void): Slots {
  let running = 0
  let parked = 0
  let moves = 0
  const back: (() => void)[] = []
  const take = (): ReturnType<Slots['take']> => {
    running += 1
    /** null: the item has its slot. */
    let away: PromiseWithResolvers<void> | null = null
    let waits = 0
    let isOver = false
    const leave = (): PromiseWithResolvers<void> => {
      running -= 1
      parked += 1
      moves += 1
      return Promise.withResolvers<void>()
    }
    const comeBack = (): void => {
      parked -= 1
      moves += 1
      back.push(() => {
        away?.resolve()
        away = null
      })
    }
    return {
      slot: {
        park: async (wait) => {
          // Ask first, then park: when all items are parked, everything has been asked.
          const waiting = wait()
          const isLeaving = away === null
          away ??= leave()
          const returned = away.promise
          waits += 1
          if (isLeaving) changed()
          try {
            return await waiting
          } finally {
            waits -= 1
            if (waits === 0 && !isOver) {
              comeBack()
              changed()
            }
            await returned
          }
        },
      },
      end: () => {
        isOver = true
        if (away === null) running -= 1
        else parked -= 1
        changed()
      },
    }
  }
  return {
    take,
    readmit: () => {
      const enter = running < count ? back.shift() : undefined
      if (enter === undefined) return false
      running += 1
      enter()
      return true
    },
    isFree: () => running < count,
    isEmpty: () => running === 0 && parked === 0 && back.length === 0,
    isAllParked: () => running === 0 && back.length === 0 && parked > 0,
    moves: () => moves,
  }
}
