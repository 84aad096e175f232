import { printable } from '../printable.ts'

/** A name as it stands in a reason. */
export function shown(name: string): string {
  return `\`${printable(name, 200)}\``
}
