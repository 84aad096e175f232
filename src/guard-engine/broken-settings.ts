import type { HookEvent } from '../core/hook-event.ts'
import type { Decided } from './decide.ts'

/**
 * The answer while the settings cannot be understood: nobody knows what is allowed, so no tool runs until a person has mended
 * them. An agent may stop, since it cannot mend them itself; that end proves nothing.
 */
export function answerWithoutSettings(event: HookEvent, problem: string): Decided {
  const text = `The guard's settings cannot be read:\n${problem}`
  const said = (verdict: Decided['verdict']): Pick<Decided, 'findings'> => ({
    findings: [{ rule: 'settings', verdict, text }],
  })
  const silent: Decided = {
    verdict: 'pass',
    reason: null,
    context: null,
    notice: null,
    findings: [],
    notes: [],
  }
  switch (event.kind) {
    case 'tool_before':
    case 'config_change': {
      const reason = `${text}\nNo tool is allowed until a person has mended them: ask the person.`
      return { ...silent, ...said('deny'), verdict: 'deny', reason }
    }
    case 'stop':
    case 'subagent_stop': {
      const why = 'the settings of the guard could not be read'
      const notes = [{ kind: 'ended', state: 'INFRA', tree: null, why } as const]
      return { ...silent, ...said('pass'), notice: text, notes }
    }
    case 'session_start':
      return { ...silent, ...said('pass'), notice: text }
    default:
      return silent
  }
}
