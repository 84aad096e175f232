import type { Decision, Finding } from '../core/decision.ts'
import type { Rule, RuleAnswer, Scene } from '../rules/contract.ts'
import type { FactName, Note } from './contract.ts'

export interface Decided extends Omit<Decision, 'id'> {
  readonly notes: readonly Note[]
}

/** All rules over one event. The strictest verdict holds; every rule that speaks is heard. */
export function decide(rules: readonly Rule[], scene: Scene): Decided {
  const findings: Finding[] = []
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

function verdictOf(answer: RuleAnswer): Finding['verdict'] {
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
