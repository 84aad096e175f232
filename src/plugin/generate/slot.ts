import type { ComponentType } from '../contract.ts'
import type { ScenarioType, SemanticVariation } from './contract.ts'
import { distribution } from './distribution.ts'
import { diversity } from './diversity.ts'
import { semanticVariationTypes } from './semantic-variations.ts'

/** One scenario that is wanted. What it must be is decided here; the model only fills it. */
export interface Slot {
  /** `s1`, as the model is told. */
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

/**
 * near_miss: close to what the component says of itself, and not its business. neighbour: the same, and another component's
 * business. unrelated: nothing to do with it.
 */
export type NegativeKind = 'near_miss' | 'neighbour' | 'unrelated'

export interface SlotWishes {
  readonly componentType: Extract<ComponentType, 'skill' | 'agent'>
  readonly total: number
  readonly diversity: number
  readonly semantic: boolean
  /** Another component says nearly the same of itself. */
  readonly hasRival: boolean
}

/** In the order in which scenarios are written down. */
export const slotTypes: readonly ScenarioType[] = [
  'direct',
  'semantic',
  'paraphrased',
  'edge_case',
  'proactive',
  'negative',
]

/** The slots of one component: types by the distribution, ideas dealt round, so that none has more variations than may be. */
export function planSlots({
  componentType,
  total,
  diversity: degree,
  semantic,
  hasRival,
}: SlotWishes): readonly Slot[] {
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
