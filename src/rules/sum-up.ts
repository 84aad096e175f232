import { counted } from '../core/counted.ts'
import type { EndState } from '../core/decision.ts'
import { evidenceStatus } from '../core/evidence.ts'
import type { History } from '../guard-engine/contract.ts'
import type { Rule } from './contract.ts'

/** At the end of a session, one line about what was refused, noticed and verified. */
export const sumUp: Rule = {
  name: 'sum-up',
  on: ['session_end'],
  judge: ({ history }) => {
    const notice = sessionSummary(history)
    return notice === null ? null : { notice }
  },
}

const maxCommands = 3

/** What the guard refused, noticed and verified in a session, in one line; null when nothing happened. */
export function sessionSummary({ session, evidence, gate }: History, now?: EndState): string | null {
  const { denied = 0, refused = 0, noticed = 0 } = session.sums ?? {}
  const end = now ?? gate.lastEnd?.state ?? null
  const green = Object.values(evidence.byCommand).filter((run) => evidenceStatus([run], run) === 'green')
  if (denied + refused + noticed === 0 && end === null && green.length === 0) return null
  const names = green.slice(-maxCommands).map(({ command }) => `\`${command}\``)
  const more = green.length - names.length
  const verified =
    names.length === 0 ? 'no check' : `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const said = [
    ...(denied > 0 ? [`${counted(denied, 'call')} denied`] : []),
    ...(refused > 0 ? [`${counted(refused, 'stop')} refused`] : []),
    ...(noticed > 0 ? [`${counted(noticed, 'warning')} given`] : []),
  ]
  const last = end === null ? 'no stop was judged' : `the last stop ended ${end}`
  return `Gantry guard, in this session: ${said.join(', ') || 'nothing refused'}; last seen green: ${verified}; ${last}.`
}
