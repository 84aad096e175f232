import type { AnyComponent } from '../component-list.ts'

/** Where a component is written: its file relative to the plugin, and the line when it is known. */
export function componentPlace({ component: { path, line } }: AnyComponent): string {
  return line === undefined ? path : `${path}:${line}`
}
