import { cappedMap } from './capped-map.ts'
import type { TraceItem } from './trace-call.ts'
import type { RefusalFigure } from './trace-report.ts'

const maxRules = 200
/** A denial that names no rule of ours: a person or the agent's own settings said no. */
const notOurs = 'outside the guard'

/** How often each rule kept a call from happening or the agent from stopping. */
export function countRefusals(): { add(item: TraceItem): void; finish(): readonly RefusalFigure[] } {
  const rules = cappedMap(
    maxRules,
    () => ({ denied: 0, refused: 0 }),
    ({ denied, refused }) => denied + refused,
  )
  return {
    add: (item) => {
      if (item.kind === 'refusal') rules.at(item.rule)[item.verdict === 'deny' ? 'denied' : 'refused'] += 1
      else if (item.result === 'denied') rules.at(item.rule ?? notOurs).denied += 1
    },
    finish: () =>
      rules
        .entries()
        .map(([rule, counts]) => ({ rule, ...counts }))
        .toSorted((a, b) => b.denied + b.refused - (a.denied + a.refused)),
  }
}
