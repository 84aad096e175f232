import type { ScenarioType } from './contract.ts'

export type TypeCounts = Readonly<Record<ScenarioType, number>>

/**
 * How many scenarios of each type a skill or an agent gets. Three tenths are direct, at least one; the rest is split evenly, and
 * what is left over goes to the first types. Of an agent one edge case becomes a proactive one.
 */
export function distribution(
  total: number,
  { componentType, semantic }: { readonly componentType: 'skill' | 'agent'; readonly semantic: boolean },
): TypeCounts {
  const counts = {
    direct: Math.min(total, Math.max(1, Math.ceil((3 * total) / 10))),
    paraphrased: 0,
    edge_case: 0,
    negative: 0,
    proactive: 0,
    semantic: 0,
  }
  const others = [
    ...(semantic && componentType === 'skill' ? (['semantic'] as const) : []),
    'paraphrased' as const,
    'edge_case' as const,
    'negative' as const,
  ]
  const rest = total - counts.direct
  for (const [index, type] of others.entries())
    counts[type] = Math.floor(rest / others.length) + (index < rest % others.length ? 1 : 0)
  if (componentType === 'agent' && counts.edge_case > 0) {
    counts.edge_case -= 1
    counts.proactive += 1
  }
  return counts
}
