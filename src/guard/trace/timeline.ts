export type TimelineMark = 'success' | 'failure' | 'denied' | 'unknown'

export interface TimelineFigure {
  readonly startMs: number
  readonly slotMs: number
  readonly slots: number
  /** By tool, busiest first. The rest are combined in the last lane. */
  readonly lanes: readonly TimelineLane[]
}

export interface TimelineLane {
  readonly name: string
  readonly calls: number
  /** Per slot. Slots without calls are left out. */
  readonly marks: readonly (Readonly<Record<TimelineMark, number>> & { readonly slot: number })[]
}

const slots = 480
const maxLanes = 12
const otherLane = 'other'
const kinds: readonly TimelineMark[] = ['success', 'failure', 'denied', 'unknown']

/** Calls over time in a fixed number of slots. When the time exceeds the last slot, pairs of slots are merged. */
export function openTimeline() {
  const lanes = new Map<string, Float64Array>()
  let startMs: number | null = null
  let slotMs = 1
  let used = 0

  function laneFor(name: string): Float64Array {
    const known = lanes.get(name)
    if (known !== undefined) return known
    if (lanes.size >= maxLanes && name !== otherLane) return laneFor(otherLane)
    const made = new Float64Array(slots * kinds.length)
    lanes.set(name, made)
    return made
  }

  function halve(): void {
    for (const counts of lanes.values()) {
      for (let slot = 0; slot < slots; slot += 1)
        for (let kind = 0; kind < kinds.length; kind += 1) {
          const from = 2 * slot * kinds.length + kind
          const sum = slot < slots / 2 ? (counts[from] ?? 0) + (counts[from + kinds.length] ?? 0) : 0
          counts[slot * kinds.length + kind] = sum
        }
    }
    slotMs *= 2
    used = Math.ceil(used / 2)
  }

  return {
    add: (atMs: number, lane: string, mark: TimelineMark): void => {
      startMs ??= atMs
      // A call before the first one, because the clock went back, goes into the first slot.
      const after = Math.max(0, atMs - startMs)
      while (after >= slotMs * slots) halve()
      const slot = Math.floor(after / slotMs)
      used = Math.max(used, slot + 1)
      const counts = laneFor(lane)
      const at = slot * kinds.length + kinds.indexOf(mark)
      counts[at] = (counts[at] ?? 0) + 1
    },
    finish: (): TimelineFigure => ({
      startMs: startMs ?? 0,
      slotMs,
      slots: used,
      lanes: [...lanes]
        .map(([name, counts]) => laneOf(name, counts, used))
        .sort((a, b) => Number(a.name === otherLane) - Number(b.name === otherLane) || b.calls - a.calls),
    }),
  }
}

function laneOf(name: string, counts: Float64Array, used: number): TimelineLane {
  const marks = []
  let calls = 0
  for (let slot = 0; slot < used; slot += 1) {
    const [success = 0, failure = 0, denied = 0, unknown = 0] = counts.subarray(
      slot * kinds.length,
      (slot + 1) * kinds.length,
    )
    const sum = success + failure + denied + unknown
    calls += sum
    if (sum > 0) marks.push({ slot, success, failure, denied, unknown })
  }
  return { name, calls, marks }
}
