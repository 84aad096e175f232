/**
 * A spending limit. Every call reserves its maximum cost before it is sent, so that concurrent calls together never
 * exceed the cap; afterwards the real cost replaces the reservation.
 */
export interface Budget {
  /** null = no cap. */
  readonly capUsd: number | null
  /** `null` for a call without a known price: it is granted until the cap is reached. */
  reserve(estimateUsd: number | null): Grant
  /** The amount that can still be reserved; null = no cap. */
  remainingUsd(): number | null
  /** Calls of unknown cost are not metered. */
  state(): { readonly spentUsd: number; readonly reservedUsd: number; readonly unmeteredCalls: number }
}

export type Grant =
  | {
      readonly kind: 'granted'
      readonly usd: number | null
      readonly settle: SettleCost
      /** Reserves another amount instead, whether or not the cap allows it. */
      readonly hold: (usd: number) => void
    }
  | { readonly kind: 'refused'; readonly message: string }

/** Call once; a second call has no effect. `null` when the real cost is unknown: counted as unmetered, and nothing is charged. */
export type SettleCost = (actualUsd: number | null) => void

/**
 * `spentUsd` is the amount that a resumed run has already spent. `raise` says which cap applies now, if all calls together need this much.
 */
export function createBudget(
  givenUsd: number | null,
  spentUsd = 0,
  raise?: (neededUsd: number) => number | null,
): Budget {
  let capUsd = givenUsd
  let cap = capUsd === null ? Infinity : toNano(capUsd)
  let spent = toNano(spentUsd)
  let reserved = 0
  let unmeteredCalls = 0
  return {
    get capUsd() {
      return capUsd
    },
    state: () => ({ spentUsd: spent / 1e9, reservedUsd: reserved / 1e9, unmeteredCalls }),
    remainingUsd: () => (capUsd === null ? null : Math.max(0, cap - spent - reserved) / 1e9),
    reserve: (estimateUsd) => {
      let estimate = estimateUsd === null ? 0 : toNano(estimateUsd)
      const isFull = (): boolean =>
        estimateUsd === null ? spent + reserved >= cap : spent + reserved + estimate > cap
      if (raise !== undefined) {
        capUsd = raise((spent + reserved + Math.max(1, estimate)) / 1e9)
        cap = capUsd === null ? Infinity : toNano(capUsd)
      }
      if (isFull())
        return { kind: 'refused', message: refusal(capUsd ?? 0, spent / 1e9, reserved / 1e9, estimateUsd) }
      reserved += estimate
      let open = true
      const settle: SettleCost = (actualUsd) => {
        if (!open) return
        open = false
        reserved -= estimate
        if (actualUsd === null) unmeteredCalls += 1
        else spent += toNano(actualUsd)
      }
      const hold = (usd: number): void => {
        if (!open) return
        reserved += toNano(usd) - estimate
        estimate = toNano(usd)
      }
      return { kind: 'granted', usd: estimateUsd, settle, hold }
    },
  }
}

/** Whole billionths of a dollar: sums of fractions would drift and could exceed the cap. */
function toNano(usd: number): number {
  if (!(usd >= 0)) throw new RangeError(`${usd} is not an amount of money`)
  return Math.max(0, Math.ceil(usd * 1e9 - 1e-6))
}

function refusal(cap: number, spent: number, reserved: number, estimate: number | null): string {
  const open = reserved > 0 ? ` and $${reserved.toFixed(4)} is reserved by calls under way` : ''
  const wanted = estimate === null ? 'one more call' : `a call of up to $${estimate.toFixed(4)}`
  return `the budget of $${cap.toFixed(cap < 0.01 ? 6 : 2)} does not allow ${wanted}: $${spent.toFixed(4)} is spent${open}`
}
