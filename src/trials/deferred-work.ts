/**
 * Work done in order in later turns of the event loop: the files of a finished trial are written while another process starts the next
 * agent.
 */
export function createDeferredWork() {
  let last: Promise<unknown> = Promise.resolve()
  return {
    /** Settles when the work is done, with its error if it failed. Later work is still done. */
    add: (work: () => void): Promise<void> => {
      const previous = last
      const done = new Promise<void>((resolve, reject) => {
        setImmediate(() => void previous.then(work).then(resolve, reject))
      })
      last = done.catch(() => {})
      return done
    },
  }
}
