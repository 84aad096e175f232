import type { UnnamedScenario } from '../component-record.ts'

/** The scenarios of a component that need no model, or why there are none. */
export interface Templates {
  readonly scenarios: readonly UnnamedScenario[]
  /** Nothing of it can be tried. */
  readonly skipped?: string
  readonly warnings?: readonly string[]
}
