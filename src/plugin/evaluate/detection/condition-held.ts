import { hookMatches } from '../../analyze/matcher.ts'
import type { Execution, HookResponse } from '../../execute/contract.ts'
import { hookValues } from './hook-values.ts'
import type { KnownComponent } from './known-components.ts'

/**
 * Whether a group that fits has really run. One whose handlers all have a condition of their own may not have: it has when there
 * are more responses than the handlers without a condition, which run once for every call, account for.
 */
export function conditionHeld(
  { hook }: KnownComponent,
  fitting: readonly KnownComponent[],
  { hook_name, hook_event }: Pick<HookResponse, 'hook_name' | 'hook_event'>,
  execution: Execution,
): boolean {
  if (hook?.isConditional !== true) return true
  // Equal handlers are run once, however many groups have them.
  const always = new Set(fitting.flatMap((other) => other.hook?.always ?? [])).size
  const [tool = ''] = hookValues({ hook_name, hook_event }, execution)
  const calls = execution.detected_tools.filter(({ name }) => hookMatches(tool, name)).length
  const responses = execution.hook_responses.filter((response) => response.hook_name === hook_name).length
  return responses > always * Math.max(1, calls)
}
