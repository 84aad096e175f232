import type { Variables } from '../core/expand.ts'
import { createRedaction, type Redaction } from '../core/redaction.ts'
import { loadProject } from './load.ts'

/** For what is made to be shared: hides also what the patterns of the project match now, which a run may be older than. */
export function projectRedaction(cwd: string, env: Variables): Redaction {
  return createRedaction(loadProject(cwd).config.redact, env)
}
