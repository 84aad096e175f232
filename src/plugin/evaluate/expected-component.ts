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

/** The detection of the expected component, and those that compete with it. */
export function ownAndRivals(expected: KnownComponent, detections: readonly Detection[]) {
  const others = detections.filter((one) => !isOf(one, expected))
  return { own: detections.find((one) => isOf(one, expected)), rivals: rivalsOf(expected, others) }
}

/**
 * The fired components that compete with the expected one. A hook fires by its event and replaces no other component, so hooks
 * compete only with hooks of the same event. A Stop hook, for example, fires in every trial.
 */
export function rivalsOf(
  expected: Pick<KnownComponent, 'type' | 'cli_name'>,
  others: readonly Detection[],
): readonly Detection[] {
  return others.filter(({ component_type, cli_name }) => {
    if (component_type !== 'hook') return true
    return expected.type === 'hook' && eventOf(cli_name) === eventOf(expected.cli_name)
  })
}

/** The CLI's name of a hook begins with its event. */
function eventOf(cliName: string): string {
  const [event = ''] = cliName.split(':', 1)
  return event
}
