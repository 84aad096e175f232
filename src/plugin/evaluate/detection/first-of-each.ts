import type { Detection } from '../contract.ts'

/** One detection per component, the earliest, in the order in which they happened. */
export function firstOfEach(detections: readonly Detection[]): readonly Detection[] {
  const first = new Map<string, Detection>()
  for (const detection of inOrder(detections)) {
    const key = identity(detection)
    if (!first.has(key)) first.set(key, detection)
  }
  return [...first.values()]
}

/** Two plugins may have components of one name, so the plugin belongs to it. */
export function identity({ component_type, plugin, name }: Detection): string {
  return JSON.stringify([component_type, plugin, name])
}

/** What has no usable time comes last. */
function inOrder(detections: readonly Detection[]): readonly Detection[] {
  const time = ({ timestamp }: Detection) => (Number.isFinite(timestamp) ? timestamp : Number.MAX_VALUE)
  return detections.toSorted((a, b) => time(a) - time(b))
}
