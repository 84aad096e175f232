import type { AgentEnding } from '../../core/event.ts'
import { parseObject } from '../../core/json-fields.ts'
import type { AgentRequest } from '../contract.ts'

/** Listens along to what an agent prints. */
export interface HeardWords {
  readonly emit: AgentRequest['emit']
  /** Why what was heard cannot be the whole work of the agent, which ended like this; null when it can. */
  problem(ending: AgentEnding): string | null
}

/**
 * A program that ended by itself and printed nothing the agent prints was not the agent at work. One that broke off in the
 * middle of a line has lost the rest: some exit before what they wrote has left them.
 */
export function hearWords(emit: AgentRequest['emit']): HeardWords {
  let saidAnything = false
  let lastLine: string | null = null
  return {
    emit(event) {
      if (event.event !== 'output') {
        saidAnything ||= event.event !== 'raw'
        lastLine = event.event === 'raw' ? event.line : null
      }
      emit(event)
    },
    problem(ending) {
      if (ending !== 'exited' && ending !== 'crashed') return null
      if (!saidAnything) return 'the program printed nothing that this agent prints'
      const isCut = lastLine?.startsWith('{') === true && parseObject(lastLine) === null
      return ending === 'exited' && isCut ? 'its output breaks off in the middle of a line' : null
    },
  }
}
