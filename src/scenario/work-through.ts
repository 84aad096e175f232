export interface Workload<T> {
  readonly concurrency: number
  readonly signal: AbortSignal
  /** On the clock of `performance.now()`: nothing is started after it. */
  readonly deadline?: number
  work(item: T): Promise<'done' | 'not_run'>
}

/**
 * Works through a list with several hands. Resolves to the items that were not done, in order: after an interruption, past
 * the deadline, or because their work said so. The first error stops the start of further items and is thrown when
 * those under way have ended.
 */
export async function workThrough<T>(items: readonly T[], load: Workload<T>): Promise<T[]> {
  const left = new Set(items)
  const queue = items.values()
  let failure: { readonly error: unknown } | null = null
  const mayStart = (): boolean =>
    failure === null &&
    !load.signal.aborted &&
    (load.deadline === undefined || performance.now() < load.deadline)
  const hand = async (): Promise<void> => {
    while (mayStart()) {
      const { value, done } = queue.next()
      if (done === true) return
      try {
        if ((await load.work(value)) === 'done') left.delete(value)
      } catch (error) {
        if (!load.signal.aborted) failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(load.concurrency, items.length) }, hand))
  if (failure !== null) throw (failure as { readonly error: unknown }).error
  return [...left]
}
