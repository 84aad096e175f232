import { type Clock, systemClock } from './clock.ts'
import { quickRandom } from './quick-random.ts'

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `run_YYYYMMDD_HHMMSS_xxxxxx`, UTC. Unique enough for a burst; the store's exclusive mkdir resolves conflicts. */
export function newRunId(clock: Clock = systemClock): string {
  return stampedId('run', clock)
}

export function newTaskId(clock: Clock = systemClock): string {
  return stampedId('task', clock)
}

function stampedId(prefix: string, clock: Clock): string {
  const [date, time] = clock.now().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').split('T')
  return `${prefix}_${date}_${time}_${randomSuffix(6)}`
}

export function newUuid(): string {
  return crypto.randomUUID()
}

export function randomSuffix(length: number): string {
  let text = ''
  while (text.length < length)
    for (const byte of quickRandom(length - text.length)) {
      // The last few values would make some letters likelier than others.
      if (byte < 252) text += alphabet[byte % alphabet.length]
    }
  return text
}
