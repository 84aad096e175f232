import { writeSync } from 'node:fs'
import { errnoOf } from './fs-error.ts'

/** Writes everything to a descriptor at once. Ignores a reader that is gone. */
export function writeOut(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (cause) {
      if (errnoOf(cause) === 'EPIPE') return
      if (errnoOf(cause) !== 'EAGAIN') throw cause
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

/**
 * Ends this process although a thread waits for input that never ends. Node would wait for that thread, but replacing the program with
 * execve does not.
 */
export function exitNow(exitCode: number): never {
  process.removeAllListeners('warning')
  if (process.platform !== 'win32' && process.execve !== undefined)
    process.execve('/bin/sh', ['sh', '-c', `exit ${exitCode}`], {})
  process.exit(exitCode)
}
