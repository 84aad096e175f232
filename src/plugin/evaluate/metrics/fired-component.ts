import { rivalsOf } from '../conflict/rivals.ts'
import type { Detection, TrialEvaluation } from '../contract.ts'

/** Whoever fired when nobody did. */
export const nobody = 'none'

/** The component a trial asked for, as `type:name`; null where it asked for none. */
export function askedComponent({ gates }: Pick<TrialEvaluation, 'gates'>): string | null {
  const [gate] = gates
  const component = gate?.type === 'component_triggered' ? gate.detail.component : undefined
  return typeof component === 'string' ? component : null
}

/** `skill:greet` of the plugin under test, `other/skill:other:greet` of another, `(unknown)/…` of none we know. */
export function firedLabel({ component_type, name, plugin }: Detection, ownPlugin: string): string {
  const id = `${component_type}:${name}`
  return plugin === ownPlugin ? id : `${plugin ?? '(unknown)'}/${id}`
}

/** Who fired beside or instead of the component that was asked for, the first first. */
export function otherFirings(
  { detections, component_type, expected_component }: TrialEvaluation,
  asked: string,
  ownPlugin: string,
): readonly string[] {
  const others = rivalsOf({ type: component_type, cli_name: expected_component }, detections)
  return others.map((detection) => firedLabel(detection, ownPlugin)).filter((label) => label !== asked)
}
