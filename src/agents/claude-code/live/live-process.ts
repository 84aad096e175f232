import type { JsonObject } from '../../../core/json-fields.ts'
import { type OpenProcess, openProcess, type ProcessExit } from '../../../io/open-process.ts'
import type { CliStart } from '../../cli/contract.ts'

export interface LiveProcess {
  readonly pid: number | undefined
  /** Writes one line of JSON. Nothing happens once it is gone. */
  send(message: JsonObject): void
  /** No line will follow: by that it knows that it may go. */
  hangUp(): void
  /** After the last of its output. */
  readonly gone: Promise<ProcessExit>
  readonly end: OpenProcess['end']
}

export interface LivePlace {
  readonly workspace: string
  /** Every byte, before it is read. */
  transcript(chunk: Uint8Array): void
  stdout(chunk: Uint8Array): void
  stderr(chunk: Uint8Array): void
  /** It takes no more lines. */
  onBroken(): void
}

/** How long its pipes may take to run dry once it is gone. What it started may hold them open for ever. */
const drainMs = 250

/** Starts a program that is spoken to in lines of JSON. */
export function startLive({ argv, env }: CliStart, place: LivePlace): LiveProcess {
  const child = openProcess({
    argv,
    cwd: place.workspace,
    env,
    onStdout: (chunk) => {
      place.transcript(chunk)
      place.stdout(chunk)
    },
    onStderr: (chunk) => {
      place.transcript(chunk)
      place.stderr(chunk)
    },
  })
  let isHungUp = false
  // Every byte is handled as it arrives; there is no other reader.
  child.stdout.resume()
  const gone = child.exit.then(async (exit) => {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, drainMs)
    if (exit.error === undefined) await Promise.race([child.closed, late])
    clearTimeout(timer)
    return exit
  })
  return {
    pid: child.pid,
    send(message) {
      if (!child.stdin.writable) {
        if (!isHungUp) place.onBroken()
        return
      }
      child.stdin.write(`${lineOf(message)}\n`, (error) => {
        if (error) place.onBroken()
      })
    },
    hangUp() {
      isHungUp = true
      child.stdin.end()
    },
    gone,
    end: child.end,
  }
}

/** U+2028 and U+2029 end a line for some who read lines, and may be escaped in any JSON. */
function lineOf(message: JsonObject): string {
  return JSON.stringify(message).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}
