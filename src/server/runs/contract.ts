import type { Store } from '../../store/contract.ts'
import type { Handlers } from '../routes.ts'
import type { runRoutes } from './run-routes.ts'

/** What the routes about runs need. */
export interface RunHandlerOptions {
  readonly store: Store
  /** Directory of gantry.yaml; null without one. */
  readonly project: string | null
}

export type RunHandlers = Pick<Handlers, keyof typeof runRoutes>
