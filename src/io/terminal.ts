import { readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { isatty } from 'node:tty'
import { orElse } from './fs-error.ts'

/** The user's terminal, if there is one. */
export type Terminal = ReturnType<typeof processTerminal>

export function processTerminal() {
  return {
    /** Standard input and output both are a terminal. */
    isTerminal: isatty(0) && isatty(1),
    /** `/dev/pts/3`; null when the system does not report it. */
    name: orElse(null, () => readlinkSync('/proc/self/fd/0')),
    write: (text: string): void => {
      process.stdout.write(text)
    },
    /** One line without its end; null when the input ends or the signal comes first. */
    readLine,
  }
}

function readLine(signal: AbortSignal): Promise<string | null> {
  const reader = createInterface({ input: process.stdin })
  return new Promise((settle) => {
    const end = (line: string | null): void => {
      signal.removeEventListener('abort', stop)
      settle(line)
      reader.close()
      process.stdin.pause()
    }
    const stop = (): void => end(null)
    reader.once('line', end)
    reader.once('close', () => end(null))
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}
