import type { ComponentType } from '../contract.ts'
import { type ScenarioType, type SemanticVariation, semanticVariationTypes } from './contract.ts'

/** One scenario to be written. Its type and idea are decided here; the model only writes it. */
export interface ScenarioSlot {
  /** `s1`, used in the prompt. */
  readonly id: string
  readonly type: ScenarioType
  /** Counted from 1 within the type. */
  readonly index: number
  /** `b1`: the idea it is a variation of. */
  readonly base: string
  /** Of a semantic scenario. */
  readonly variation?: SemanticVariation
  /** Of a negative one. */
  readonly negative?: NegativeKind
}

/** The end of the scenario's id. */
export function suffixOf({ type, index }: Pick<ScenarioSlot, 'type' | 'index'>): string {
  return `${type}-${index}`
}

/**
 * near_miss: close to the description, but not a task of the component. neighbour: a near miss that is a task of another component.
 * unrelated: nothing to do with it.
 */
export type NegativeKind = 'near_miss' | 'neighbour' | 'unrelated'

export interface SlotRequest {
  readonly componentType: Extract<ComponentType, 'skill' | 'agent'>
  readonly total: number
  readonly diversity: number
  readonly semantic: boolean
  /** Another component has nearly the same description. */
  readonly hasRival: boolean
}

/** The order of scenarios in the output. */
export const slotTypes: readonly ScenarioType[] = [
  'direct',
  'semantic',
  'paraphrased',
  'edge_case',
  'proactive',
  'negative',
]

/** The slots of one component: types by the distribution, ideas in turn, so no idea has too many variations. */
export function planSlots({
  componentType,
  total,
  diversity: degree,
  semantic,
  hasRival,
}: SlotRequest): readonly ScenarioSlot[] {
  const counts = distribution(total, { componentType, semantic })
  const { baseCount } = diversity(total, degree)
  const kinds: readonly NegativeKind[] = hasRival
    ? ['neighbour', 'near_miss', 'unrelated']
    : ['near_miss', 'unrelated']
  return slotTypes
    .flatMap((type) => Array.from({ length: counts[type] }, (_, at) => ({ type, at })))
    .map(({ type, at }, position) => {
      const variation = semanticVariationTypes[at % semanticVariationTypes.length]
      const negative = kinds[at % kinds.length]
      return {
        id: `s${position + 1}`,
        type,
        index: at + 1,
        base: `b${(position % baseCount) + 1}`,
        ...(type === 'semantic' && variation !== undefined && { variation }),
        ...(type === 'negative' && negative !== undefined && { negative }),
      }
    })
}

/**
 * How many scenarios of each type a skill or an agent gets. Three tenths are direct, at least one. The rest is split evenly, with
 * any remainder for the first types. For an agent, one edge case becomes a proactive scenario. At least one is negative: without
 * it, nothing is known about when the component stays quiet.
 */
export function distribution(
  total: number,
  { componentType, semantic }: { readonly componentType: 'skill' | 'agent'; readonly semantic: boolean },
): Readonly<Record<ScenarioType, number>> {
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
  const spared = others.findLast((type) => counts[type] > 0)
  if (counts.negative === 0 && spared !== undefined) {
    counts[spared] -= 1
    counts.negative += 1
  }
  if (componentType === 'agent' && counts.edge_case > 0) {
    counts.edge_case -= 1
    counts.proactive += 1
  }
  return counts
}

/** The number of ideas for `total` scenarios. 1: one idea per scenario; lower: fewer ideas, each in several variations. */
export function diversity(total: number, asked: number) {
  const degree = Math.min(1, Math.max(0.1, asked))
  return {
    baseCount: roundedUp(total * degree),
    /** Maximum number of scenarios per idea. */
    variationsPerBase: roundedUp(1 / degree),
  }
}

/** Rounds up, ignoring floating-point noise: 10 × 0.7 is 7. */
function roundedUp(value: number): number {
  return Math.ceil(Number(value.toFixed(9)))
}
