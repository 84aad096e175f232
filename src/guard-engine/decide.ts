import type { Decision, RuleFinding } from '../core/decision.ts'
import type { HookEvent } from '../core/hook-event.ts'
import { shorten } from '../core/shorten.ts'
import type { Rule, RuleAnswer, Scene } from '../rules/contract.ts'
import type { FactName, Note } from './contract.ts'

export interface Decided extends Omit<Decision, 'id'> {
  readonly notes: readonly Note[]
}

/** Asks all rules about one event. The strictest verdict wins, and every finding is kept. */
export function decide(rules: readonly Rule[], scene: Scene): Decided {
  const findings: RuleFinding[] = []
  const answers: RuleAnswer[] = []
  for (const rule of rules) {
    const answer = rule.on.includes(scene.event.kind) ? rule.judge(scene) : null
    if (answer === null) continue
    answers.push(answer)
    const text = answer.deny ?? answer.refuse ?? answer.context ?? answer.notice
    if (text !== undefined) findings.push({ rule: rule.name, verdict: verdictOf(answer), text })
  }
  const denied = texts(answers, 'deny')
  const refused = texts(answers, 'refuse')
  return {
    verdict: denied !== null ? 'deny' : refused !== null ? 'refuse' : 'pass',
    reason: denied ?? refused,
    context: texts(answers, 'context'),
    notice: texts(answers, 'notice'),
    findings,
    // A stop that one rule refuses is not an end, whatever another rule concluded from it.
    notes: answers
      .flatMap(({ remember }) => remember ?? [])
      .filter(({ kind }) => refused === null || kind !== 'ended'),
  }
}

/** The facts that the rules need for this event, without duplicates. */
export function wantedFacts(rules: readonly Rule[], scene: Omit<Scene, 'facts'>): ReadonlySet<FactName> {
  const speaking = rules.filter((rule) => rule.on.includes(scene.event.kind))
  return new Set(speaking.flatMap((rule) => rule.wants?.(scene) ?? []))
}

function verdictOf(answer: RuleAnswer): RuleFinding['verdict'] {
  if (answer.deny !== undefined) return 'deny'
  return answer.refuse === undefined ? 'pass' : 'refuse'
}

function texts(
  answers: readonly RuleAnswer[],
  field: 'deny' | 'refuse' | 'context' | 'notice',
): string | null {
  const found = answers.map((answer) => answer[field]).filter((text) => text !== undefined)
  return found.length === 0 ? null : found.join('\n\n')
}

/** Agents move a text of more than 10,000 characters to a file and show the model only its beginning. Codecs add a few words. */
const maxChars = 9_300
const cutMark = '\n… (shortened)'

/** Joins the texts of the rules within the limits of the agents. A reason ends with the command that explains the decision. */
export function boundedAnswer(decided: Decided, id: string): Decided {
  const { reason, context, notice } = decided
  return {
    ...decided,
    reason: reason === null ? null : bounded(reason, `\n(gantry guard explain ${id})`),
    context: context === null ? null : bounded(context),
    notice: notice === null ? null : bounded(notice),
  }
}

function bounded(text: string, ending = ''): string {
  const room = maxChars - ending.length
  if (text.length <= room) return text + ending
  return shorten(text, room, cutMark) + ending
}

/**
 * The answer while the settings cannot be read. What is allowed is unknown, so every tool is denied until a person has fixed them. An agent
 * may stop, since it cannot fix them itself, but that end proves nothing.
 */
export function answerWithoutSettings(event: HookEvent, problem: string): Decided {
  const text = `The guard's settings cannot be read:\n${problem}`
  const found = (verdict: Decided['verdict']): Pick<Decided, 'findings'> => ({
    findings: [{ rule: 'settings', verdict, text }],
  })
  switch (event.kind) {
    case 'tool_before':
    case 'config_change': {
      const reason = `${text}\nNo tool is allowed until a person has fixed them. Ask the user to do so.`
      return { ...silent, ...found('deny'), verdict: 'deny', reason, notes: [] }
    }
    case 'stop':
    case 'subagent_stop': {
      const why = 'the settings of the guard could not be read'
      const notes = [{ kind: 'ended', state: 'INFRA', tree: null, why } as const]
      return { ...silent, ...found('pass'), notice: text, notes }
    }
    case 'session_start':
      return { ...silent, ...found('pass'), notice: text, notes: [] }
    default:
      return { ...silent, notes: [] }
  }
}

/** No rule has anything to say. */
export const silent = {
  verdict: 'pass',
  reason: null,
  context: null,
  notice: null,
  findings: [],
} as const satisfies Omit<Decision, 'id'>

/** What is recorded of an event that no rule could judge in time. The agent gets the same answer as from a guard that failed. */
export function answerTooLate(event: HookEvent): Decided {
  const text = 'The guard did not answer in time.'
  const isStop = event.kind === 'stop' || event.kind === 'subagent_stop'
  const verdict =
    event.kind === 'tool_before' || event.kind === 'config_change'
      ? 'deny'
      : isStop && !event.again
        ? 'refuse'
        : 'pass'
  return {
    ...silent,
    verdict,
    reason: verdict === 'pass' ? null : text,
    findings: [{ rule: 'time', verdict, text }],
    notes:
      isStop && verdict === 'pass'
        ? [{ kind: 'ended', state: 'INFRA', tree: null, why: 'the guard did not answer in time' }]
        : [],
  }
}
