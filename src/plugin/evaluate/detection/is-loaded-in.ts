import type { Arm } from '../../contract.ts'
import type { KnownComponent } from './known-components.ts'

/** Whether a component can have fired in an arm at all: alone the plugin is without company, and without it there is nothing. */
export function isLoadedIn({ own }: Pick<KnownComponent, 'own'>, arm: Arm): boolean {
  switch (arm) {
    case 'without':
      return false
    case 'alone':
      return own
    case 'crowd':
      return true
  }
}
