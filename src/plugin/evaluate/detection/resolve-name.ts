import type { Arm, ComponentType } from '../../contract.ts'
import { type FoundComponent, foundForeign, foundKnown } from './found-component.ts'
import { isLoadedIn } from './is-loaded-in.ts'
import { type KnownComponent, type KnownComponents, type NameList, nameKey } from './known-components.ts'

/** How something was called: it decides what an unknown name is taken for, and which of two namesakes is meant. */
export interface Call {
  readonly list: NameList
  /** Of several that share the name, one of this type is meant. */
  readonly prefer: ComponentType
}

/**
 * The component that is meant by a name as the CLI reports it: `plugin:skill`, `plugin:ns:command`, or without the plugin
 * where only one that is loaded has the name. A name of a plugin is believed in every arm, also where that plugin should
 * not be: that is how a leak shows. An empty name is nobody's.
 */
export function resolveName(
  written: string,
  call: Call,
  known: KnownComponents,
  arm: Arm,
): FoundComponent | null {
  if (written.trim() === '') return null
  const [one, ...others] = preferred(namesakes(written, call.list, known, arm), call.prefer)
  return one === undefined || others.length > 0 ? foundForeign(call.prefer, written.trim()) : foundKnown(one)
}

/** All that the name may mean, before a type is preferred. */
export function namesakes(
  written: string,
  list: NameList,
  known: KnownComponents,
  arm: Arm,
): readonly KnownComponent[] {
  const full = known.byName.get(nameKey(list, 'full', written)) ?? []
  if (full.length > 0) return full
  const bare = known.byName.get(nameKey(list, 'bare', written)) ?? []
  return bare.filter((component) => isLoadedIn(component, arm))
}

function preferred(components: readonly KnownComponent[], type: ComponentType): readonly KnownComponent[] {
  const ofType = components.filter((component) => component.type === type)
  return ofType.length > 0 ? ofType : components
}
