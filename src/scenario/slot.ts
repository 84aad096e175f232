/** The right to be one of those that work at the same time. */
export interface Slot {
  /**
   * Gives the slot up while `wait` lasts, so that other items go on meanwhile, and has one again before it settles.
   * `wait` must end when the run is interrupted. Several waits of one item end together.
   */
  park<T>(wait: () => Promise<T>): Promise<T>
}

export interface Slots {
  /** Counts the work of one item as running. */
  take(): { readonly slot: Slot; readonly end: () => void }
  /** Lets one of those in that are back from waiting, if there is one and a slot is free. */
  letIn(): boolean
  readonly isFree: () => boolean
  readonly isEmpty: () => boolean
  /** Items are under way, and all of them wait. */
  readonly isAllParked: () => boolean
  /** Grows with every item that is parked or comes back. */
  readonly moves: () => number
}

/** `changed` is called whenever a slot was given up or is wanted back. */
export function createSlots(count: number, changed: () => void): Slots {
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
          // First asked, then parked: whoever sees everybody parked may rely on everything having been asked.
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
    letIn: () => {
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
