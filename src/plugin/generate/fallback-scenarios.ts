import { componentId, componentLabel } from '../component-list.ts'
import type { ModelWritten } from './component-prompt.ts'
import { type ComponentScenarios, typeCounts, type UnnamedScenario } from './component-record.ts'
import { normalText } from './likeness.ts'
import type { Neighbour } from './neighbours.ts'
import type { ComponentPlan } from './plan-component.ts'

/** Protects the budget from descriptions with hundreds of quoted phrases. */
const mostPhrases = 50

/**
 * Scenarios without a model: each trigger phrase verbatim, one unrelated request, and a phrase of a rival if there is one.
 */
export function fallbackScenarios(
  entry: ModelWritten,
  neighbours: readonly Neighbour[],
): { readonly scenarios: readonly UnnamedScenario[]; readonly warnings: readonly string[] } {
  const { name, description } = entry.component
  const all = phrasesOf(entry)
  const phrases = all.slice(0, mostPhrases)
  const facts = {
    component_ref: name,
    expected_component: name,
    component_type: entry.type,
    origin: 'fallback' as const,
  }
  const direct = phrases.map((phrase, index) => ({
    ...facts,
    suffix: `direct-${index + 1}`,
    scenario_type: 'direct' as const,
    user_prompt: phrase,
    expected_trigger: true,
    reasoning: 'A phrase of the component itself.',
    ...(entry.type === 'skill' && { original_trigger_phrase: phrase }),
  }))
  const rival = rivalPhrase(entry, neighbours)
  const negative = [
    {
      prompt: unrelatedRequest([name, description, ...phrases]),
      reasoning: 'It has nothing to do with the component.',
      tags: ['unrelated'],
    },
    ...(rival === null
      ? []
      : [
          {
            prompt: rival.phrase,
            reasoning: 'It is a phrase of a component that says nearly the same of itself.',
            tags: ['near-miss', `neighbour:${rival.name}`],
          },
        ]),
  ].map(({ prompt, reasoning, tags }, index) => ({
    ...facts,
    suffix: `negative-${index + 1}`,
    scenario_type: 'negative' as const,
    user_prompt: prompt,
    expected_trigger: false,
    reasoning,
    tags,
  }))
  const leftOut = all.length - phrases.length
  return {
    scenarios: [...direct, ...negative],
    warnings:
      leftOut === 0
        ? []
        : [`${componentLabel(entry.type, name)}: ${leftOut} of its ${all.length} phrases are skipped`],
  }
}

/** Trigger phrases or example messages without duplicates; for a component without any, its description. */
function phrasesOf(entry: ModelWritten): readonly string[] {
  const byText = Map.groupBy(ownPhrases(entry), normalText)
  byText.delete('')
  const distinct = [...byText.values()].flatMap(([first]) => first ?? [])
  if (distinct.length > 0) return distinct
  const { name, description } = entry.component
  const [sentence = ''] = description.trim().split(/(?<=[.!?])\s|\n/)
  return [`I need help with this: ${sentence.trim() === '' ? name : sentence.trim()}`]
}

/** A phrase that begins with a slash would be a command. */
function ownPhrases(entry: ModelWritten): readonly string[] {
  const phrases =
    entry.type === 'skill'
      ? entry.component.triggers
      : entry.component.examples.map(({ user_message }) => user_message)
  return phrases.map((phrase) => phrase.trim()).filter((phrase) => !phrase.startsWith('/'))
}

function rivalPhrase(
  entry: ModelWritten,
  neighbours: readonly Neighbour[],
): { readonly phrase: string; readonly name: string } | null {
  const own = new Set(ownPhrases(entry).map(normalText))
  for (const { entry: other, isRival } of neighbours) {
    if (!isRival || (other.type !== 'skill' && other.type !== 'agent')) continue
    const phrase = ownPhrases(other).find((text) => normalText(text) !== '' && !own.has(normalText(text)))
    if (phrase !== undefined) return { phrase, name: other.component.name }
  }
  return null
}

/** The scenarios of a component when no model is available. */
export function fallbackComponent({ entry, neighbours, slots }: ComponentPlan): ComponentScenarios {
  const { name } = entry.component
  const { scenarios, warnings } = fallbackScenarios(entry, neighbours)
  return {
    scenarios,
    record: {
      component: componentId(entry.type, name),
      component_type: entry.type,
      name,
      origin: 'fallback',
      asked: typeCounts(slots.map(({ type }) => ({ scenario_type: type }))),
      got: typeCounts(scenarios),
      dropped: [],
      repaired: [],
      usage: [],
      warnings: [...warnings],
    },
  }
}

const requests = [
  'What is the capital of Australia?',
  'How many minutes are there in a week?',
  'Which is heavier, a litre of water or a litre of olive oil?',
  'What year did the first person walk on the moon?',
  'How do I keep basil alive on a windowsill?',
]

/** A request that has nothing to do with the component: the first that shares no word of five or more letters with it. */
export function unrelatedRequest(about: readonly string[]): string {
  const used = new Set(about.flatMap((text) => normalText(text).split(' ')))
  const fits = requests.find((request) =>
    normalText(request)
      .split(' ')
      .every((word) => word.length < 5 || !used.has(word)),
  )
  return fits ?? requests[0] ?? ''
}
