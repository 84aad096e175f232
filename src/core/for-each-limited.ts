/** Works on all items, on so many at a time. `work` must not reject. */
export async function forEachLimited<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: Math.min(limit, items.length) }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}
