/** Work that nobody waits for now, done in the next turns of the event loop, in order. */
export interface DeferredWork {
  /** Throws what earlier work threw, so that a full disk is noticed at the next trial and not after the last. */
  add(work: () => void): void
  /** Everything added is done. Throws what it threw. */
  done(): Promise<void>
}

/**
 * The books of a finished trial are written while the next agent is being started: the process that starts it is another one,
 * and would otherwise be waited for with folded hands.
 */
export function createDeferredWork(): DeferredWork {
  let failure: { readonly error: unknown } | null = null
  let last = Promise.resolve()
  const throwFailure = (): void => {
    if (failure !== null) throw failure.error
  }
  const attempt = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      failure ??= { error }
    }
  }
  return {
    add: (work) => {
      throwFailure()
      const previous = last
      last = new Promise((resolve) => {
        setImmediate(() => void previous.then(() => attempt(work)).then(resolve))
      })
    },
    done: async () => {
      await last
      throwFailure()
    },
  }
}
