import { GantryError } from '../../core/error.ts'
import { readTextInside } from '../../io/read-text-inside.ts'

const usualBytes = 1024 * 1024

/** A text file of a case; null when it is not there. Throws GantryError for what is there and is no text of reasonable length. */
export function readCaseText(dir: string, name: string, maxBytes = usualBytes): string | null {
  const path = `${dir}/${name}`
  const read = readTextInside(dir, name, { maxBytes })
  const refuse = (why: string): GantryError =>
    new GantryError('INVALID_FILE', `${path}: ${why}`, { at: { file: path } })
  switch (read.kind) {
    case 'text':
      if (read.text.includes('\0')) throw refuse('is no text')
      return read.text
    case 'missing':
      return null
    case 'outside':
      throw refuse(`it may not be read: ${read.reason}`)
    case 'not_a_file':
      throw refuse(`is ${read.what}, not a file`)
    case 'too_large':
      throw refuse(`is larger than ${maxBytes / 1024 / 1024} MiB`)
    case 'unreadable':
      throw refuse(`cannot be read: ${read.reason}`)
  }
}

/** The same, and null too for what is there and cannot be used. */
export function usableCaseText(dir: string, name: string, maxBytes = usualBytes): string | null {
  try {
    return readCaseText(dir, name, maxBytes)
  } catch (error) {
    if (error instanceof GantryError) return null
    throw error
  }
}
