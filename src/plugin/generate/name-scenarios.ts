import { contentHash } from '../../io/content-hash.ts'
import { componentId } from '../component-list.ts'
import type { ComponentType } from '../contract.ts'
import type { UnnamedScenario } from './component-record.ts'
import type { PluginScenario } from './contract.ts'

export interface NamedGroup {
  readonly type: ComponentType
  /** Of the component. */
  readonly name: string
  readonly scenarios: readonly UnnamedScenario[]
}

/** Leaves room for the longest suffix, an arm and a repetition. */
const maxSlug = 60

/**
 * Gives every scenario an id: `<component>-<type>-<index>`, a file name on every system, unique whatever the case. It depends on
 * the components alone, not on the answers of a model, so the same slot has the same id in every run.
 */
export function nameScenarios(groups: readonly NamedGroup[]): readonly PluginScenario[] {
  const slugs = groups.map(({ name }) => slugOf(name))
  const bySlug = Map.groupBy(slugs, (slug) => slug.toLowerCase())
  const taken = new Set<string>()
  return groups.flatMap(({ type, name, scenarios }, index) => {
    const plain = slugs[index] ?? ''
    const isShared = (bySlug.get(plain.toLowerCase()) ?? []).length > 1
    const slug = isShared ? `${plain}-${hashOf(componentId(type, name))}` : plain
    return scenarios.map(({ suffix, ...scenario }) => {
      const id = untaken(`${slug}-${slugOf(suffix)}`, taken)
      taken.add(id.toLowerCase())
      return { id, ...scenario }
    })
  })
}

/** The name as a file name; a hash replaces what is lost or cut. */
function slugOf(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9._]+/g, '-').replaceAll(/^[^A-Za-z0-9]+|-+$/g, '')
  const kept = safe === '' ? 'component' : safe
  const isWhole = safe !== '' && !/[^\x20-\x7e]/.test(name)
  return isWhole && kept.length <= maxSlug ? kept : `${kept.slice(0, maxSlug)}-${hashOf(name)}`
}

/** Two components may still collide: `a` with `multi-file-ref` and `a-multi` with `file-ref`. */
function untaken(id: string, taken: ReadonlySet<string>): string {
  let found = id
  for (let count = 2; taken.has(found.toLowerCase()); count += 1) found = `${id}-${count}`
  return found
}

function hashOf(text: string): string {
  return contentHash([text]).slice(0, 6)
}
