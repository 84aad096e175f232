import type { Decision } from '../../core/decision.ts'
import { withRefusalMark } from '../../core/refusal-mark.ts'
import { hookText } from './hook-text.ts'

/** What an agent does with an answer to one of its events. */
export interface EventPowers {
  /** It can be kept from happening: a call, a stop, a prompt, a change of settings. */
  readonly block?: true
  /** A text reaches the model. */
  readonly context?: true
  /** A text reaches the person. */
  readonly notice?: true
}

/** A decision cut down to what this event can carry. */
export interface Said {
  readonly block: string | null
  readonly context: string | null
  readonly notice: string | null
}

export const nothingSaid: Said = { block: null, context: null, notice: null }

/**
 * What cannot be blocked is at least told: to the model, else to the person. With a block, the context goes along in the one
 * text that surely arrives.
 */
export function saidBy(decision: Decision, powers: EventPowers): Said {
  const { verdict, context, notice } = decision
  const reason = verdict === 'pass' ? null : decision.reason?.trim() || 'This is refused.'
  if (reason !== null && powers.block)
    return {
      block: hookText(withRefusalMark(joined(reason, context) ?? reason)),
      context: null,
      notice: powers.notice ? shortened(notice) : null,
    }
  const untold = reason === null ? null : withRefusalMark(reason)
  return {
    block: null,
    context: powers.context ? shortened(joined(untold, context)) : null,
    notice: powers.notice ? shortened(powers.context ? notice : joined(untold, notice)) : null,
  }
}

function joined(...texts: readonly (string | null)[]): string | null {
  const given = texts.filter((text) => text !== null && text !== '')
  return given.length === 0 ? null : given.join('\n\n')
}

function shortened(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : hookText(text)
}
