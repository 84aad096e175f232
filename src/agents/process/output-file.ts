import { followFile } from '../../io/follow-file.ts'
import { writePrivateFile } from '../../io/private-file.ts'

export interface OutputFile {
  /** The program, with its standard output in the file. */
  readonly argv: readonly [string, ...string[]]
  /** After the program is gone. */
  finish(): void
}

/** A file between a program and its reader. What the reader throws stops the program, and is thrown by `finish`. */
export function outputFile(
  argv: readonly string[],
  parent: string | undefined,
  onChunk: (chunk: Uint8Array) => void,
  stop: AbortController,
): OutputFile {
  const file = writePrivateFile(parent, 'output', '')
  const followed = followFile(file.path, onChunk, () => stop.abort())
  return {
    argv: ['sh', '-c', 'out=$1; shift; exec "$@" > "$out"', 'sh', file.path, ...argv],
    finish() {
      try {
        followed.finish()
      } finally {
        file.remove()
      }
    },
  }
}
