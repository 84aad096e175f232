import type { JsonObject } from '../../../core/json-fields.ts'
import { openProcess } from '../../../io/open-process.ts'
import type { CliStart } from '../../cli/contract.ts'

export interface LivePlace {
  readonly workspace: string
  /** Every byte, before it is read. */
  transcript(chunk: Uint8Array): void
  stdout(chunk: Uint8Array): void
  stderr(chunk: Uint8Array): void
  /** Called when it accepts no more lines. */
  onBroken(): void
}

/** How long its pipes may stay open after its end. Its child processes could keep them open forever. */
const drainMs = 250

/** Starts a program that communicates in JSON lines. */
export function startLive({ argv, env }: CliStart, place: LivePlace) {
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
    /** Writes one line of JSON. Has no effect after the process has ended. */
    send(message: JsonObject): void {
      if (!child.stdin.writable) {
        if (!isHungUp) place.onBroken()
        return
      }
      child.stdin.write(`${lineOf(message)}\n`, (error) => {
        if (error) place.onBroken()
      })
    },
    /** Closes stdin, which tells the program to exit. */
    hangUp(): void {
      isHungUp = true
      child.stdin.end()
    },
    /** Resolves after the last of its output. */
    gone,
    end: child.end,
  }
}

/** Some line readers treat U+2028 and U+2029 as line ends, and JSON allows escaping them. */
function lineOf(message: JsonObject): string {
  return JSON.stringify(message).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}
