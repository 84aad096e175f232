import { printable } from '../../../guard-engine/printable.ts'
import type { ComponentType } from '../../contract.ts'
import type { KnownComponent } from './known-components.ts'

/** A component that a trace names: one we know, or what the CLI calls one we do not. */
export interface FoundComponent {
  readonly type: ComponentType
  /** The author's name when it is of the plugin under test, else the CLI's. */
  readonly name: string
  readonly cli_name: string
  /** null: not of any plugin we know. */
  readonly plugin: string | null
}

export function foundKnown({ type, name, cli_name, plugin, own }: KnownComponent): FoundComponent {
  return { type, name: own ? name : cli_name, cli_name, plugin }
}

/** A name that a model made up may be of any length and hold anything. */
export function foundForeign(type: ComponentType, written: string): FoundComponent {
  const name = printable(written, 200)
  return { type, name, cli_name: name, plugin: null }
}
