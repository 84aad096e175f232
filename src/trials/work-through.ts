import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TrialSlot } from './contract.ts'

export interface Workload<T> {
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Aborted after an error that `work` does not throw: what is parked is given up. */
  readonly failed?: AbortSignal
  /** False: no further item is started. */
  mayStart(): boolean
  /** True: the item is started later, when another has ended. */
  isBlocked?(item: T): boolean
  /** Must end soon after an interruption, and must not throw because of it. */
  work(item: T, slot: WorkSlot): Promise<void>
  /**
   * Nothing runs, nothing is left to start, and items are parked: resolves when what they wait for has arrived. Not called
   * after an interruption or an error.
   */
  readonly onAllParked?: () => Promise<void>
}

export interface WorkSlot extends TrialSlot {
  /** `park` for a wait that ends by itself: `onAllParked` is not called before. */
  rest<T>(wait: () => Promise<T>): Promise<T>
}

/**
 * Works on a list, on several items at a time. The first error stops the start of further items and is thrown when those
 * under way have ended; those that are parked then are given up.
 */
export async function workThrough<T>(items: readonly T[], load: Workload<T>): Promise<void> {
  const queue = items.values()
  /** Passed over because they were blocked. */
  const passed: T[] = []
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let failure: { readonly error: unknown } | null = null
  let isCalling = false
  let isOver = false
  const hasFailed = (): boolean => failure !== null || load.failed?.aborted === true

  const start = async (item: T): Promise<void> => {
    const { slot, end: giveBack } = slots.take()
    try {
      await load.work(item, slot)
    } catch (error) {
      failure ??= { error }
    } finally {
      giveBack()
    }
  }
  /** The first item that is not blocked, or none. */
  const next = (): readonly T[] => {
    const isFree = (item: T): boolean => load.isBlocked?.(item) !== true
    const free = passed.findIndex(isFree)
    if (free >= 0) return passed.splice(free, 1)
    for (const item of queue) {
      if (isFree(item)) return [item]
      passed.push(item)
    }
    return []
  }
  /** Items that return from a wait go first: they are nearly done. Those that were given up never return. */
  const goOn = (): void => {
    if (isOver) return
    while (slots.readmit()) {}
    while (slots.isFree() && !hasFailed() && load.mayStart()) {
      const found = next()
      if (found.length === 0) break
      for (const item of found) void start(item)
    }
    if (slots.isEmpty() || (hasFailed() && slots.isAllParked())) {
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
  load.failed?.addEventListener('abort', goOn, { once: true })
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
  take(): { readonly slot: WorkSlot; readonly end: () => void }
  /** Gives a free slot to an item that has ended its wait. False when there is no such item or no free slot. */
  readmit(): boolean
  readonly isFree: () => boolean
  readonly isEmpty: () => boolean
  /** Items are under way, and all of them wait for something that does not come by itself. */
  readonly isAllParked: () => boolean
  /** Grows with every item that is parked or returns. */
  readonly moves: () => number
}

/** `changed` is called whenever a slot was given up or is wanted back. */
function createSlots(count: number, changed: () => void): Slots {
  let running = 0
  let parked = 0
  /** Waits that end by themselves. */
  let rests = 0
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
    const leaveFor = async <T>(wait: () => Promise<T>): Promise<T> => {
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
    }
    return {
      slot: {
        park: leaveFor,
        rest: (wait) =>
          leaveFor(async () => {
            rests += 1
            try {
              return await wait()
            } finally {
              rests -= 1
            }
          }),
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
    isAllParked: () => running === 0 && back.length === 0 && parked > 0 && rests === 0,
    moves: () => moves,
  }
}
