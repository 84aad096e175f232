/** The wall clock. Passed as an argument so tests can control it. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** Monotonic time in milliseconds. Not `performance.now`, whose module takes two milliseconds to load in a hook. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

export function processAgeMs(): number {
  return process.uptime() * 1000
}
