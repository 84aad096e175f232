import type { Budget } from '../models/contract.ts'

/** The budget of a run, shared by its trials. No trial starts beyond the budget or spends what another reserved. */
export interface Shares {
  /**
   * Reserves money for one attempt. null: what is left is less than it costs. Waits while attempts under way may leave
   * something of what they reserved.
   */
  reserve(trial: PricedTrial): Promise<Share | null>
  /** Why the last attempt got nothing; null when every one got its share. */
  refusal(): string | null
}

/** What is known of a trial's cost before it starts. */
export interface PricedTrial {
  /** Trials of one key probably cost the same. */
  readonly like: string
  /** What such trials cost in earlier runs; null when there was none. */
  readonly earlierUsd: number | null
  /** What other trials of the same agent cost in earlier runs; null when there was none. */
  readonly othersUsd: number | null
  /** The trial's own limit. */
  readonly maxUsd: number | null
}

export interface Share {
  /** The limit when it was last asked for. null = no limit. */
  readonly usd: number | null
  /**
   * The limit that applies now, if the attempt needs this much in all: everything that is left, besides what others have
   * spent and what those that began before it probably need. null = no limit.
   */
  raise(neededUsd: number): number | null
  /** A second call changes nothing. null = the cost is unknown. `isTypical` false: it says nothing about what a trial costs. */
  settle(costUsd: number | null, isTypical?: boolean): void
  /** The attempt was not made. */
  giveBack(): void
}

/** An attempt under way. */
interface Holding {
  /** Reserved: no other attempt starts with it. */
  heldUsd: number
  /** What it has spent, and what a call under way may cost. */
  neededUsd: number
  /** What it probably costs in all. */
  readonly expectedUsd: number
  hold(usd: number): void
}

/** A trial starts beside others with this many times what it probably costs: it could wait instead of being cut. */
const room = 2
/** The same for one whose cost is known only from another case: one cheap case says little about the next. */
const roomAfter = (cases: number): number => Math.max(room, 32 / cases ** 2)

/** `budget` null: everything is free. `expectedCostUsd`: what a trial probably costs, before any has ended. */
export function openShares(budget: Budget | null, expectedCostUsd: number | null): Shares {
  const costs = createCosts()
  /** In the order in which they began. */
  const underWay: Holding[] = []
  let waiting: (() => void)[] = []
  let refused: string | null = null
  if (budget === null) {
    const free = Promise.resolve({ usd: null, raise: () => null, settle: () => {}, giveBack: () => {} })
    return { reserve: () => free, refusal: () => null }
  }

  /** Less than nothing when attempts cost more than they could be stopped at. */
  const leftUsd = (): number => {
    const { spentUsd, reservedUsd } = budget.state()
    return (budget.capUsd ?? Number.POSITIVE_INFINITY) - spentUsd - reservedUsd
  }
  /** `besidesUsd`: needed to start beside others. `aloneUsd`: to start at all. An estimate may be too high: it refuses nothing. */
  const priceOf = ({ like, earlierUsd, othersUsd }: PricedTrial) => {
    const known = costs.dearest(like) ?? earlierUsd
    if (known !== null) return { expectedUsd: known, besidesUsd: known * room, aloneUsd: known }
    const others = costs.dearest() ?? othersUsd
    if (others !== null) {
      const besidesUsd = others * roomAfter(costs.keys() || 2)
      return { expectedUsd: others, besidesUsd, aloneUsd: costs.mean() ?? others }
    }
    const guess = costs.isUnmetered() ? 0 : (expectedCostUsd ?? Number.POSITIVE_INFINITY)
    return { expectedUsd: guess, besidesUsd: guess * room, aloneUsd: 0 }
  }
  const tryReserve = (trial: PricedTrial): Share | string => {
    const own = trial.maxUsd ?? Number.POSITIVE_INFINITY
    const { expectedUsd, besidesUsd, aloneUsd } = priceOf(trial)
    // A sum of fractions may be a little too large.
    const fits = (usd: number): boolean => leftUsd() + 1e-9 >= Math.min(own, usd)
    if (leftUsd() <= 0 || !(fits(besidesUsd) || (underWay.length === 0 && fits(aloneUsd))))
      return tooLittle(budget, aloneUsd)
    const grant = budget.reserve(0)
    if (grant.kind === 'refused') return grant.message
    const mine: Holding = {
      heldUsd: 0,
      neededUsd: 0,
      expectedUsd,
      hold(usd) {
        this.heldUsd = usd
        grant.hold(usd)
      },
    }
    if (budget.capUsd !== null) mine.hold(Math.min(own, besidesUsd, leftUsd()))
    underWay.push(mine)
    const limitUsd = (): number =>
      Math.min(
        own,
        underWay.reduce((sum, other) => sum + spareUsd(other, mine), leftUsd()),
      )
    /** What another holds and does not need. The one that began last gives way. */
    const spareUsd = (other: Holding, to: Holding): number => {
      if (other === to) return other.heldUsd
      const isEarlier = underWay.indexOf(other) < underWay.indexOf(to)
      const keptUsd = isEarlier ? Math.max(other.expectedUsd, other.neededUsd) : other.neededUsd
      return Math.max(0, other.heldUsd - keptUsd)
    }
    let usd = orNull(limitUsd())
    let refusedUsd = 0
    const close = (costUsd: number | null): boolean => {
      const at = underWay.indexOf(mine)
      if (at < 0) return false
      underWay.splice(at, 1)
      grant.settle(costUsd)
      const woken = waiting
      waiting = []
      for (const wake of woken) wake()
      return true
    }
    return {
      get usd() {
        return usd
      },
      raise(neededUsd) {
        if (!underWay.includes(mine)) return usd
        usd = orNull(limitUsd())
        if (usd === null) return usd
        if (neededUsd > usd + 1e-9) {
          refusedUsd = neededUsd
          return usd
        }
        usd = Math.max(usd, neededUsd)
        mine.neededUsd = neededUsd
        for (const other of [...underWay].reverse()) {
          const missingUsd = neededUsd - mine.heldUsd - Math.max(0, leftUsd())
          if (missingUsd > 0 && other !== mine)
            other.hold(other.heldUsd - Math.min(missingUsd, spareUsd(other, mine)))
        }
        mine.hold(Math.max(mine.heldUsd, neededUsd))
        return usd
      },
      settle(costUsd, isTypical = true) {
        // A trial that was stopped costs at least what it asked for.
        if (close(costUsd) && isTypical)
          costs.add(trial.like, costUsd === null ? null : Math.max(costUsd, refusedUsd))
      },
      giveBack: () => void close(0),
    }
  }

  return {
    async reserve(trial) {
      for (;;) {
        const share = tryReserve(trial)
        if (typeof share !== 'string') return share
        if (underWay.length === 0) {
          refused = share
          return null
        }
        await new Promise<void>((wake) => waiting.push(wake))
      }
    },
    refusal: () => refused,
  }
}

function orNull(usd: number): number | null {
  return usd === Number.POSITIVE_INFINITY ? null : Math.max(0, usd)
}

/** What the trials of this run cost so far. */
function createCosts() {
  const byKey = new Map<string, number>()
  let [count, sum, unmetered] = [0, 0, 0]
  return {
    /** null = unmetered. */
    add(like: string, usd: number | null): void {
      if (usd === null) {
        unmetered += 1
        return
      }
      count += 1
      sum += usd
      byKey.set(like, Math.max(byKey.get(like) ?? 0, usd))
    },
    keys: () => byKey.size,
    /** Of the trials of one key, or of all. null: none has ended. */
    dearest: (like?: string): number | null =>
      like !== undefined ? (byKey.get(like) ?? null) : count === 0 ? null : Math.max(...byKey.values()),
    mean: () => (count === 0 ? null : sum / count),
    /** Trials have ended, and none of them with a known cost. */
    isUnmetered: () => count === 0 && unmetered > 0,
  }
}

function tooLittle(budget: Budget, costUsd: number): string {
  const left = `the budget of ${dollars(budget.capUsd ?? 0)} has ${dollars(budget.remainingUsd() ?? 0)} left`
  return costUsd === 0 ? left : `${left}, and a trial like it costs about ${dollars(costUsd)}`
}

/** `$5.00`, `$0.0060`. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd >= 1 || usd === 0 ? 2 : usd >= 0.0001 ? 4 : 6)}`
}
