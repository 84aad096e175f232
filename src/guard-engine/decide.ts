import type { Decision, RuleFinding } from '../core/decision.ts'
import type { HookEvent } from '../core/hook-event.ts'
import { shorten } from '../core/shorten.ts'
import type { Rule, RuleAnswer, Scene } from '../rules/contract.ts'
import type { FactName, Note } from './contract.ts'

export interface Decided extends Omit<Decision, 'id'> {
  readonly notes: readonly Note[]
}

/** All rules over one event. The strictest verdict holds; every rule that speaks is heard. */
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
    notes: answers.flatMap(({ remember }) => remember ?? []),
  }
}

/** The facts the rules need for this event, each once. */
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

/** Agents put a text of more than 10,000 characters into a file and show the model only its beginning; codecs add a few words. */
const maxChars = 9_300
const cutMark = '\n… (shortened)'

/** What rules said, within what agents take; a reason ends with how a person finds the decision again. */
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
