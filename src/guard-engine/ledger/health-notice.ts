import type { LedgerHealth } from './open-ledger.ts'

/** What a person should know of a ledger that is not as the guard left it; null when it is. */
export function healthNotice({ tampered, truncated }: LedgerHealth): string | null {
  const found = [
    ...(tampered > 0
      ? [`${tampered === 1 ? 'a line' : `${tampered} lines`} the guard did not write, which do not count`]
      : []),
    ...(truncated > 0 ? ['a part of it is missing; what was known of it still counts'] : []),
  ]
  return found.length === 0
    ? null
    : `The guard's ledger was changed by somebody else: ${found.join('; ')}. See gantry guard status.`
}
