/**
 * Money that may be spent. Every call reserves what it may cost before it is sent, so that calls in flight together never
 * promise more than the cap; afterwards the real cost takes the place of the reservation.
 */
export interface Budget {
  /** null = no cap. */
  readonly capUsd: number | null
  /** `null` for a call without a known price: it is granted while the cap is not reached. */
  reserve(estimateUsd: number | null): Grant
  /** What can still be reserved; null = no cap. */
  remainingUsd(): number | null
  state(): BudgetState
}

export type Grant =
  | { readonly kind: 'granted'; readonly usd: number | null; readonly settle: Settle }
  | { readonly kind: 'refused'; readonly message: string }

/** To be called once; a second call changes nothing. `null` when the real cost stayed unknown: counted as unmetered, nothing is charged. */
export type Settle = (actualUsd: number | null) => void

export interface BudgetState {
  readonly spentUsd: number
  readonly reservedUsd: number
  /** Calls whose cost nobody knows. */
  readonly unmeteredCalls: number
}

/** `spentUsd` is what a resumed run has spent already. */
export function createBudget(capUsd: number | null, spentUsd = 0): Budget {
  const cap = capUsd === null ? Infinity : toNano(capUsd)
  let spent = toNano(spentUsd)
  let reserved = 0
  let unmeteredCalls = 0
  return {
    capUsd,
    state: () => ({ spentUsd: spent / 1e9, reservedUsd: reserved / 1e9, unmeteredCalls }),
    remainingUsd: () => (capUsd === null ? null : Math.max(0, cap - spent - reserved) / 1e9),
    reserve: (estimateUsd) => {
      const estimate = estimateUsd === null ? 0 : toNano(estimateUsd)
      const full = estimateUsd === null ? spent + reserved >= cap : spent + reserved + estimate > cap
      if (full)
        return { kind: 'refused', message: refusal(capUsd ?? 0, spent / 1e9, reserved / 1e9, estimateUsd) }
      reserved += estimate
      let open = true
      const settle: Settle = (actualUsd) => {
        if (!open) return
        open = false
        reserved -= estimate
        if (actualUsd === null) unmeteredCalls += 1
        else spent += toNano(actualUsd)
      }
      return { kind: 'granted', usd: estimateUsd, settle }
    },
  }
}

/** Whole billionths of a dollar: sums of fractions would drift, and a drift could pass the cap. */
function toNano(usd: number): number {
  if (!(usd >= 0)) throw new RangeError(`${usd} is no amount of money`)
  return Math.max(0, Math.ceil(usd * 1e9 - 1e-6))
}

function refusal(cap: number, spent: number, reserved: number, estimate: number | null): string {
  const open = reserved > 0 ? ` and $${reserved.toFixed(4)} is reserved by calls under way` : ''
  const wanted = estimate === null ? 'one more call' : `a call of up to $${estimate.toFixed(4)}`
  return `the budget of $${cap.toFixed(cap < 0.01 ? 6 : 2)} does not allow ${wanted}: $${spent.toFixed(4)} is spent${open}`
}
