import { readFileSync } from 'node:fs'
import { orElse } from './fs-error.ts'

/** User id at the other end of a connection on this machine, from the kernel's table; null where that is unknown. */
export function peerUser(peerPort: number, ownPort: number): number | null {
  for (const table of ['tcp', 'tcp6']) {
    const text = orElse('', () => readFileSync(`/proc/net/${table}`, 'utf8'))
    for (const line of text.split('\n')) {
      const fields = line.trim().split(/\s+/)
      if (portIn(fields[1]) === peerPort && portIn(fields[2]) === ownPort) return Number(fields[7])
    }
  }
  return null
}

/** Of an address such as `0100007F:1E61`. */
function portIn(address = ''): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16)
}
