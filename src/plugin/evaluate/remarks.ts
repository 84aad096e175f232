import { printable } from '../../guard-engine/printable.ts'
import { componentLabel } from '../component-list.ts'
import type { Execution } from '../execute/contract.ts'
import type { Detection, PluginJudgement } from './contract.ts'
import type { Ambiguity, TriggerDecision } from './decide-trigger.ts'
import { identity } from './detection/detect-components.ts'
import { hasActed } from './detection/hooks.ts'
import type { KnownComponent, KnownComponents } from './detection/known-components.ts'
import { isOf, ownAndRivals } from './expected-component.ts'
import { late } from './trigger-reason.ts'

export interface RemarkFacts {
  readonly expected: KnownComponent | null
  readonly detections: readonly Detection[]
  readonly firings: readonly Detection[]
  readonly execution: Execution
  readonly judgement: PluginJudgement | null
  readonly ambiguity: Ambiguity | null
  readonly decision: TriggerDecision | null
}

/** The evidence for the verdict, and what the author may want to fix although it does not affect the verdict. */
export function remarks(facts: RemarkFacts) {
  const { expected, detections, judgement, ambiguity, execution } = facts
  return {
    evidence: [
      ...detections.filter((one) => expected !== null && isOf(one, expected)).map(({ evidence }) => evidence),
      ...(judgement?.highlights.map(({ message_id, quoted_text }) => `${message_id}: "${quoted_text}"`) ??
        []),
    ],
    issues: [
      ...(ambiguity === null ? [] : [`the traces are ambiguous: ${ambiguity.message}`]),
      ...lateness(facts),
      ...repetition(facts),
      ...disagreement(facts),
      ...judgeErrors(judgement),
      ...crashedHooks(execution),
      ...(judgement?.issues ?? []),
    ],
  }
}

/** Components of the plugin under test that fired where it should not be loaded. */
export function leaksOf(detections: readonly Detection[], known: KnownComponents): readonly string[] {
  return detections
    .filter(({ plugin }) => plugin === known.plugin)
    .map(({ component_type, name }) => componentLabel(component_type, name))
}

function lateness({ expected, detections }: RemarkFacts): readonly string[] {
  if (expected === null) return []
  const { own, rivals } = ownAndRivals(expected, detections)
  const delay = late(own, rivals)
  return delay === '' ? [] : [`${componentLabel(expected.type, expected.name)} fired${delay}`]
}

/** Hooks and servers are meant to be called repeatedly. The other types answer a request once. */
function repetition({ detections, firings }: RemarkFacts): readonly string[] {
  const counts = new Map<string, number>()
  for (const firing of firings) {
    const key = `${firing.source} ${identity(firing)}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return detections.flatMap((detection) => {
    const { component_type, name } = detection
    if (component_type === 'hook' || component_type === 'mcp_server') return []
    const times = Math.max(...sources.map((source) => counts.get(`${source} ${identity(detection)}`) ?? 0))
    return times > 1 ? [`${componentLabel(component_type, name)} fired ${times} times`] : []
  })
}

/** The start of a subagent and the call that started it are one firing, so each source is counted separately. */
const sources = ['tool_capture', 'expansion', 'subagent_capture', 'transcript'] as const

/** The opinion of the side that did not decide is reported too. */
function disagreement({ judgement, decision, expected, detections }: RemarkFacts): readonly string[] {
  const word = judgement?.triggered ?? null
  if (word === null || decision === null || expected === null) return []
  const detection = detections.find((one) => isOf(one, expected) && one.source !== 'llm')
  if (word === decision.triggered)
    return word || detection === undefined
      ? []
      : [`the judge says that it did not fire; the traces: ${detection.evidence}`]
  return [`the judge thinks that it ${word ? 'fired' : 'did not fire'}; the traces are clear and decide`]
}

function judgeErrors(judgement: PluginJudgement | null): readonly string[] {
  return (judgement?.votes ?? []).flatMap((vote) =>
    vote.kind === 'error' ? [`a judge did not answer: ${printable(vote.message, 200)}`] : [],
  )
}

function crashedHooks({ hook_responses }: Execution): readonly string[] {
  const messages = hook_responses.flatMap((response) => {
    if (hasActed(response)) return []
    const end = response.exit_code === undefined ? response.outcome : `exit code ${response.exit_code}`
    return [`a hook of ${response.hook_name} ended with ${end}: ${printable(response.stderr.trim(), 200)}`]
  })
  return [...new Set(messages)]
}
