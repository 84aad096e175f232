import type { HookAnswer, HookDecision } from './contract.ts'
import type { HookExample } from './hook-examples.ts'

/** What all hooks that fired decide together: the strictest of them holds. */
export function strictest(answers: readonly HookAnswer[]): HookAnswer {
  const sorted = answers.toSorted((a, b) => strictness.indexOf(a.decision) - strictness.indexOf(b.decision))
  return sorted[0] ?? { decision: 'none', text: null, noticed: [] }
}

const strictness: readonly HookDecision[] = ['deny', 'block', 'ask', 'modify', 'context', 'allow', 'none']

/** Why an example does not come out as its author says; null when it does. */
export function judgeExample(
  { expect, contains }: HookExample,
  answers: readonly HookAnswer[],
): string | null {
  const { decision } = strictest(answers)
  if (!fits(expect, decision, answers)) return `expected ${expect}, got ${decision}`
  if (contains === undefined) return null
  const words = answers.flatMap(({ text, change }) => [
    text ?? '',
    change === undefined ? '' : JSON.stringify(change),
  ])
  return words.some((text) => text.includes(contains))
    ? null
    : `${decision}, but nothing that was said contains '${contains}'`
}

function fits(
  expected: HookExample['expect'],
  decision: HookDecision,
  answers: readonly HookAnswer[],
): boolean {
  const isRefused = decision === 'deny' || decision === 'block'
  switch (expected) {
    case 'deny':
    case 'block':
      return isRefused
    case 'allow':
      return !isRefused && decision !== 'ask'
    case 'context':
    case 'modify':
      return !isRefused && answers.some((answer) => answer.decision === expected)
    case 'ask':
    case 'none':
      return decision === expected
  }
}
