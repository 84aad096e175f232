import type { Analysis } from '../analyze/contract.ts'
import { type AnyComponent, componentId, componentList } from '../component-list.ts'

/** Another component that the model could choose instead. */
export interface Neighbour {
  /** `n1`, used in the prompt. */
  readonly key: string
  readonly entry: AnyComponent
  /** The analysis found that the two have nearly the same description or trigger phrase. */
  readonly isRival: boolean
}

const rivalry: ReadonlySet<string> = new Set(['OVERLAPPING_DESCRIPTIONS', 'SHARED_TRIGGER'])

/** Keeps the prompt short. */
const most = 30

/** The components listed together with a skill or an agent, rivals first. Hooks and servers are not chosen by their description. */
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
