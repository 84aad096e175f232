import type { SealBreak } from '../contract.ts'
import { sealOf } from './seal-files.ts'

/** What of the sealed files is not as it was sealed. */
export async function lookAtSeal(
  sealed: Readonly<Record<string, string | null>>,
): Promise<readonly SealBreak[]> {
  return Object.entries(sealed).flatMap(([path, before]) => {
    const what = difference(before, sealOf(path))
    return what === null ? [] : [{ path, what }]
  })
}

function difference(before: string | null, now: string | null): string | null {
  if (before === now) return null
  if (before === null) return 'it was not there'
  return now === null ? 'it is gone' : 'its content is another'
}
