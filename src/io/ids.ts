import { randomInt } from 'node:crypto'
import { type Clock, systemClock } from './clock.ts'

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `run_YYYYMMDD_HHMMSS_xxxxxx`, UTC. Unique enough for a burst; the store's exclusive mkdir settles the rest. */
export function newRunId(clock: Clock = systemClock): string {
  const [date, time] = clock.now().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').split('T')
  return `run_${date}_${time}_${randomSuffix(6)}`
}

export function randomSuffix(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}
