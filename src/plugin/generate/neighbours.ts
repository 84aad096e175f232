import type { Analysis } from '../analyze/contract.ts'
import { type AnyComponent, componentId, componentList } from '../component-list.ts'

/** Another component that a model chooses between. */
export interface Neighbour {
  /** `n1`, as the model is told. */
  readonly key: string
  readonly entry: AnyComponent
  /** The files alone show that the two say nearly the same of themselves. */
  readonly isRival: boolean
}

const rivalry: ReadonlySet<string> = new Set(['OVERLAPPING_DESCRIPTIONS', 'SHARED_TRIGGER'])

/** More would only make the prompt long. */
const most = 30

/** The components beside which a skill or an agent is listed, rivals first. Hooks and servers are not chosen by what they say. */
export function neighboursOf(
  analysis: Pick<Analysis, 'components' | 'findings'>,
  { type, component }: AnyComponent,
): readonly Neighbour[] {
  const own = componentId(type, component.name)
  const rivals = new Set(
    analysis.findings
      .filter(({ code, components }) => rivalry.has(code) && components.includes(own))
      .flatMap(({ components }) => components),
  )
  const others = componentList(analysis.components)
    .filter((entry) => entry.type !== 'hook' && entry.type !== 'mcp_server')
    .map((entry) => ({ entry, id: componentId(entry.type, entry.component.name) }))
    .filter(({ id }) => id !== own)
    .map(({ entry, id }) => ({ entry, isRival: rivals.has(id) }))
  return others
    .toSorted((a, b) => Number(b.isRival) - Number(a.isRival))
    .slice(0, most)
    .map((neighbour, index) => ({ key: `n${index + 1}`, ...neighbour }))
}
