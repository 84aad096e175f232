import type { Execution, PluginTranscript } from '../../execute/contract.ts'
import type { PluginScenario } from '../../generate/contract.ts'
import { componentWords } from '../component-words.ts'
import { rivalsOf } from '../conflict/rivals.ts'
import type { Detection, TrialEvaluation } from '../contract.ts'
import type { KnownComponent, KnownComponents } from '../detection/known-components.ts'
import { isOf } from '../expected-component.ts'
import { moment } from './moment.ts'
import { whyQuiet } from './why-quiet.ts'

export interface TriggerStory {
  readonly scenario: PluginScenario
  readonly expected: KnownComponent
  readonly triggered: boolean
  readonly detections: readonly Detection[]
  readonly execution: Execution
  readonly transcript: PluginTranscript | null
  readonly known: KnownComponents
  /** Who says whether it fired. */
  readonly by: TrialEvaluation['detection_source'] | undefined
}

/** One sentence: what was expected, what fired, and where to look. */
export function triggerReason(story: TriggerStory): string {
  const { scenario, expected, triggered, detections, by } = story
  const name = componentWords(expected.type, expected.name)
  const detection = detections.find((one) => isOf(one, expected))
  const rivals = rivalsOf(
    expected,
    detections.filter((one) => !isOf(one, expected)),
  )
  if (triggered) {
    const how = detection === undefined ? '' : `: ${detection.evidence}`
    if (!scenario.expected_trigger)
      return `${name} should have stayed quiet and fired${detection === undefined ? '' : moment(detection)}${how}`
    return `${name} fired as expected${late(detection, rivals)}${how}`
  }
  if (detection !== undefined && by === 'llm')
    return scenario.expected_trigger
      ? `expected ${name} to fire; the judge says that it did not, although ${detection.evidence}`
      : `${name} stayed quiet as expected, says the judge, although ${detection.evidence}`
  if (!scenario.expected_trigger)
    return `${name} stayed quiet as expected${rivals.length === 0 ? '' : `; ${list(rivals)} fired`}`
  const [first] = rivals
  const why = whyQuiet(expected, story.execution, story.transcript, story.known)
  if (first === undefined) return `expected ${name} to fire; nothing did: ${why}`
  return `expected ${name} to fire; ${list(rivals)} fired instead${moment(first)}: ${why}`
}

/** Whether something else came before it. */
export function late(detection: Detection | undefined, rivals: readonly Detection[]): string {
  if (detection === undefined) return ''
  const earlier = rivals.filter(({ timestamp }) => timestamp < detection.timestamp)
  return earlier.length === 0 ? '' : `, but only after ${list(earlier)}`
}

function list(detections: readonly Detection[]): string {
  return detections.map(({ component_type, name }) => componentWords(component_type, name)).join(' and ')
}
