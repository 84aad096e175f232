/** Processes all items, at most `limit` at a time. After an error no further item is begun; it is thrown when the others have ended. */
export async function forEachLimited<T>(limit: number, items: Iterable<T>, work: (item: T) => Promise<void>) {
  const queue = Iterator.from(items)
  const errors: unknown[] = []
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (errors.length > 0) return
      await work(item).catch((error: unknown) => errors.push(error))
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
  if (errors.length > 0) throw errors[0]
}
