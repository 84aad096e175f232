import type { PluginScenario } from '../generate/contract.ts'
import type { Detection } from './contract.ts'
import { type KnownComponent, type KnownComponents, normalName } from './detection/known-components.ts'

/**
 * The component a scenario is about: by the author's name or by the CLI's name. null when only graders decide; `unknown` when
 * the plugin has no such component: then the scenario is broken.
 */
export function expectedComponent(
  { component_ref, expected_component, component_type }: PluginScenario,
  known: KnownComponents,
): KnownComponent | 'unknown' | null {
  const written = expected_component === '' ? component_ref : expected_component
  if (written === '') return null
  const own = known.all.filter(({ type, own: isOwn }) => isOwn && type === component_type)
  const name = normalName(written)
  return (
    own.find((component) => component.name === written) ??
    own.find((component) => component.cli_name === written || normalName(component.cli_name) === name) ??
    own.find((component) => normalName(component.name) === name) ??
    'unknown'
  )
}

export function isOf(detection: Detection, { type, name, plugin }: KnownComponent): boolean {
  return detection.component_type === type && detection.plugin === plugin && detection.name === name
}
