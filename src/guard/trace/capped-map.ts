/** A bounded map. When it is full, the keys with the lowest weight are dropped and their weight is summed up. */
export interface CappedMap<Value> {
  /** The value of the key, created when missing. Change it in place. */
  at(key: string): Value
  entries(): [string, Value][]
  /** Total weight of the dropped keys. */
  dropped(): number
}

export function cappedMap<Value>(
  cap: number,
  create: () => Value,
  weight: (value: Value) => number,
): CappedMap<Value> {
  const map = new Map<string, Value>()
  let dropped = 0

  /** Drops the lighter half at once, so that this happens rarely. */
  function thin(): void {
    const sorted = [...map].sort(([, a], [, b]) => weight(b) - weight(a))
    for (const [key, value] of sorted.slice(Math.ceil(cap / 2))) {
      dropped += weight(value)
      map.delete(key)
    }
  }

  return {
    at: (key) => {
      const known = map.get(key)
      if (known !== undefined) return known
      if (map.size >= cap) thin()
      const made = create()
      map.set(key, made)
      return made
    },
    entries: () => [...map],
    dropped: () => dropped,
  }
}
