import { normalText } from '../../core/normal-text.ts'
import type { AgentComponent } from '../analyze/contract.ts'
import { componentLabel } from '../component-list.ts'
import type { ModelWritten, Neighbour } from './component-prompt.ts'
import { type ComponentScenarios, occurrences, recorded, scenarioMaker } from './component-record.ts'
import type { ComponentPlan } from './plan-component.ts'
import { requestTemplates } from './templates/request-templates.ts'

/** Protects the budget from descriptions with hundreds of quoted phrases. */
const mostPhrases = 50

/**
 * Scenarios without a model: each trigger phrase verbatim, one unrelated request, the phrases for which its author does not want
 * it, and a phrase of a rival if there is one.
 */
export function fallbackScenarios(entry: ModelWritten, neighbours: readonly Neighbour[]) {
  const { name, description } = entry.component
  const all = phrasesOf(entry)
  const phrases = all.slice(0, mostPhrases)
  const scenario = scenarioMaker(entry.type, name, 'fallback')
  const direct = phrases.map((phrase, index) =>
    scenario(`direct-${index + 1}`, 'direct', phrase, {
      reasoning: 'A phrase of the component itself.',
      ...(entry.type === 'skill' && { original_trigger_phrase: phrase }),
    }),
  )
  const rival = rivalPhrase(entry, neighbours)
  const negative = [
    {
      user_prompt: unrelatedRequest([name, description, ...phrases]),
      reasoning: 'It has nothing to do with the component.',
      tags: ['unrelated'],
    },
    ...unwantedPhrases(entry).map((phrase) => ({
      user_prompt: phrase,
      reasoning: 'The component says that it is not for this.',
      tags: ['near-miss', 'excluded'],
    })),
    ...(rival === null
      ? []
      : [
          {
            user_prompt: rival.phrase,
            reasoning: 'It is a phrase of a component that says nearly the same of itself.',
            tags: ['near-miss', `neighbour:${rival.name}`],
          },
        ]),
  ].map(({ user_prompt, ...negative }, index) =>
    scenario(`negative-${index + 1}`, 'negative', user_prompt, negative),
  )
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
  const sentences = description.trim().split(/(?<=[.!?])\s|\n/)
  const sentence = sentences.find((text) => !/\bnot\b|n[’']t\b|\bnever\b/i.test(text)) ?? ''
  return [`I need help with this: ${sentence.trim() === '' ? name : sentence.trim()}`]
}

/** A phrase that begins with a slash would be a command. */
function ownPhrases(entry: ModelWritten): readonly string[] {
  const phrases = entry.type === 'skill' ? entry.component.triggers : messagesOf(entry.component, false)
  return typable(phrases)
}

function unwantedPhrases(entry: ModelWritten): readonly string[] {
  const phrases =
    entry.type === 'skill' ? (entry.component.negative_triggers ?? []) : messagesOf(entry.component, true)
  return typable(phrases).slice(0, mostTried)
}

/** At most as many as a person would try. */
export const mostTried = 5

function messagesOf({ examples }: AgentComponent, areNegative: boolean): readonly string[] {
  return examples.flatMap(({ user_message, is_negative = false }) =>
    is_negative === areNegative ? [user_message] : [],
  )
}

export function typable(phrases: readonly string[]): readonly string[] {
  return phrases.map((phrase) => phrase.trim()).filter((phrase) => !phrase.startsWith('/'))
}

function rivalPhrase(entry: ModelWritten, neighbours: readonly Neighbour[]) {
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
  const { scenarios, warnings } = fallbackScenarios(entry, neighbours)
  const asked = occurrences(slots.map(({ type }) => type))
  return recorded(entry, scenarios, { origin: 'fallback', asked, warnings: [...warnings] })
}

/** A request that has nothing to do with the component: the first that shares no word of five or more letters with it. */
export function unrelatedRequest(about: readonly string[]): string {
  const used = new Set(about.flatMap((text) => normalText(text).split(' ')))
  const { unrelated } = requestTemplates
  const fits = unrelated.find((request) =>
    normalText(request)
      .split(' ')
      .every((word) => word.length < 5 || !used.has(word)),
  )
  return fits ?? unrelated[0] ?? ''
}
