/** The wall clock. It is passed as an argument so that tests can stop it. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** Milliseconds of a clock that never goes back. Not `performance.now`, whose module takes a hook two milliseconds to load. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
