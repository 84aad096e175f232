/** A map with a bound: of very many keys those with the highest weight stay, and what went is summed up. */
export interface CappedMap<Value> {
  /** The key's value, made when it is not there. To be changed in place. */
  at(key: string): Value
  entries(): [string, Value][]
  /** Weight of everything that had to go. */
  dropped(): number
}

export function cappedMap<Value>(
  cap: number,
  create: () => Value,
  weight: (value: Value) => number,
): CappedMap<Value> {
  const map = new Map<string, Value>()
  let dropped = 0

  /** The lighter half goes at once, so that it happens seldom. */
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
