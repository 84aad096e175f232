import { isAbsolute, join } from 'node:path'
import { homeDirectory } from '../io/host.ts'

/** Where the guard keeps what no agent may touch: outside every project. Relative values are passed over, as XDG asks. */
export function guardHome(env: Readonly<Record<string, string | undefined>>): string {
  const { GANTRY_GUARD_HOME: own = '', XDG_STATE_HOME: state = '' } = env
  if (isAbsolute(own)) return own
  return isAbsolute(state)
    ? join(state, 'gantry', 'guard')
    : join(homeDirectory(env), '.local', 'state', 'gantry', 'guard')
}
